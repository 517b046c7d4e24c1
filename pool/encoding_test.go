package pool

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"
)

func inUTF16(text string, order binary.AppendByteOrder) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// PowerShell's > and Notepad's "Unicode" write UTF-16.
func TestListInUTF16WasRefusedAsNoText(t *testing.T) {
	for _, text := range []string{
		"127.0.0.1:7001 city=Zürich\r\n127.0.0.2:7001\r\n",
		"host\tport\r\n127.0.0.1\t7001\r\n127.0.0.2\t7001\r\n",
		`["127.0.0.1:7001", {"host": "127.0.0.2", "port": 7001}]`,
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			list, err := ParseList(strings.NewReader(inUTF16(text, order)), nil)
			if err != nil || len(list.Specs) != 2 || len(list.Skipped) != 0 {
				t.Errorf("%q in %v: %d proxies, skipped %v, %v", text, order, len(list.Specs), list.Skipped, err)
			}
		}
	}
}

// What a power cut leaves of a file has its length, and zeros for what was not
// written: a reload took it for a list of the few proxies in front of them.
func TestListThatAPowerCutDamagedReplacedThePool(t *testing.T) {
	zeros := strings.Repeat("\x00", 1000)
	for name, text := range map[string]string{
		"lines":       "192.0.2.1:80\n192.0.2.2:80\n192." + zeros + "\n",
		"far behind":  strings.Repeat("192.0.2.1:80\n", 20_000) + zeros,
		"table":       "ip,port\n192.0.2.1,80\n" + zeros,
		"JSON":        `["192.0.2.1:80"` + zeros + `]`,
		"UTF-16":      inUTF16("192.0.2.1:80\n"+zeros, binary.LittleEndian),
		"base64, cut": "MTkyLjAuMi4xOjgwCg==" + zeros,
		"zeros":       zeros,
		"no mark":     inUTF16("192.0.2.1:80\n", binary.LittleEndian)[2:],
	} {
		list, err := ParseList(strings.NewReader(text), nil)
		if !errors.Is(err, errZeros) || len(list.Specs) != 0 {
			t.Errorf("%s: %d proxies, %v", name, len(list.Specs), err)
		}
	}
}

// An address somewhere in a page made the pool that one.
func TestPageWithAnAddressInItWasAList(t *testing.T) {
	const body = "\n<p>Your address:\n192.0.2.1:80\n</html>\n"
	for _, start := range []string{"<!DOCTYPE html>", "\ufeff\r\n <html lang=en>", "<!-- saved -->\n<html>", "<HEAD>", "<body", "<?xml version='1.0'?>"} {
		list, err := ParseList(strings.NewReader(start+body), nil)
		if !errors.Is(err, errPage) || len(list.Specs) != 0 {
			t.Errorf("%q: %d proxies, %v", start, len(list.Specs), err)
		}
	}
	if list := parseText(t, "<b>Proxies</b>\n192.0.2.1:80\n"); len(list.Specs) != 1 || len(list.Skipped) != 1 {
		t.Errorf("a tag that was copied along: %d proxies, skipped %v", len(list.Specs), list.Skipped)
	}
}

func TestLineCopiedFromAPageWasRefusedForWhatCannotBeSeen(t *testing.T) {
	for _, line := range []string{
		"127.0.0.1:7001\u00a0weight=2", "\u00a0127.0.0.1:7001 weight=2\u00a0", "\u200b127.0.0.1:7001\u3000weight=2\u200e", "\u202a127.0.0.1:7001 weight=2\u202c",
		"127.0.0.1:7001\u2003weight=2\u2028", `"127.0.0.1:7001 weight=2",`, `'127.0.0.1:7001 weight=2'`,
	} {
		specs, err := ParseLine(line, nil)
		if err != nil || len(specs) != 1 || specs[0].Host != "127.0.0.1" || specs[0].Port != 7001 || specs[0].Weight != 2 {
			t.Errorf("%q: %v, %v", line, specs, err)
		}
	}
}

// What stands inside a word is part of it, and stays as it is.
func TestPasswordKeepsWhatCannotBeSeen(t *testing.T) {
	for _, password := range []string{"a\u200bb", "'p'", `"p"`, "p,", "\xe4\xa0", "p\ufeffq"} {
		specs, err := ParseLine("127.0.0.1:7001:u:"+password, nil)
		if err != nil || len(specs) != 1 || specs[0].Password.Reveal() != password {
			t.Errorf("%q: %v, %v", password, specs, err)
		}
	}
	if _, err := ParseLine("http://b\u00fccher.example:7001", nil); err != errIDN {
		t.Errorf("a host beyond ASCII: %v", err)
	}
}
