package pool

import (
	"fmt"
	"strings"
	"testing"
)

// Free lists are tables on pages; what was copied from one has tabs or blanks.
func TestTableCopiedFromAPageHadNoPort(t *testing.T) {
	for line, want := range map[string]string{
		"192.0.2.1\t8080":                                                     "http://192.0.2.1:8080",
		"  192.0.2.1   8080  ":                                                "http://192.0.2.1:8080",
		"192.0.2.1\u00a08080\u200b":                                           "http://192.0.2.1:8080",
		"Proxy.example. 3128 # x":                                             "http://proxy.example:3128",
		"2001:db8::1 8080":                                                    "http://[2001:db8::1]:8080",
		"[2001:db8::1]\t8080":                                                 "http://[2001:db8::1]:8080",
		"192.0.2.1 8080 weight=2 tag=\"a b\"":                                 "http://192.0.2.1:8080 a b x2",
		"192.0.2.1 1080 SOCKS5 weight=2":                                      "socks5://192.0.2.1:1080 x2",
		"192.0.2.1 1080 SOCKS4/5":                                             "socks4://192.0.2.1:1080",
		"192.0.2.1 8080 DE HTTP, HTTPS 98% 120ms":                             "http://192.0.2.1:8080",
		"192.0.2.1\t443\tDE\thttps":                                           "https://192.0.2.1:443",
		"192.0.2.1\t8080\tDE\tno\tyes\t0.5s\t-":                               "http://192.0.2.1:8080",
		"192.0.2.1\t8080\tDE\tElite rotating":                                 "http://192.0.2.1:8080",
		"gw.example 1-2 DE elite":                                             "http://gw.example:1\nhttp://gw.example:2",
		"192.0.2.1 1080 SOCKS4 São Paulo HIA 1 h.":                            "socks4://192.0.2.1:1080",
		"192.0.2.1\t8080\tUS\tUnited States\telite proxy\tno\tyes\t1 min ago": "http://192.0.2.1:8080",
	} {
		specs, err := ParseLine(line, nil)
		if got := shown(specs); err != nil || got != want {
			t.Errorf("%q: %s, %v", line, got, err)
		}
	}
}

func TestColumnsThatMayBeALoginWereLeftOut(t *testing.T) {
	for _, line := range []string{
		"192.0.2.1 8080 us3r s3cret", "192.0.2.1\t8080\tus3r\ts3cret\tDE", "192.0.2.1 8080 us3r:s3cret", "192.0.2.1 8080 us3r",
		"192.0.2.1 8080 anonymous s3cret", "192.0.2.1 1080 socks5 us3r s3cret", "192.0.2.1 8080 us3r s3c=ret", "192.0.2.1 8080 1234 5678",
		"www.example 300 proxies",
	} {
		if specs, err := ParseLine(line, nil); err != errColumns {
			t.Errorf("%q: %v, %v", line, specs, err)
		}
	}
	list, err := ParseList(strings.NewReader("192.0.2.1:80\n192.0.2.2\t80\tus3r\ts3cret\n"), nil)
	if err != nil || len(list.Skipped) != 1 || list.Skipped[0] != (LineError{Place{Line: 2}, errColumns.Error()}) {
		t.Errorf("skipped %v, %v", list.Skipped, err)
	}
}

// Words that are followed by a number are on every page.
func TestProseIsNoProxy(t *testing.T) {
	for _, line := range []string{"Proxies 250", "Page 1 of 20", "localhost 3128", "us3r:s3cret@192.0.2.1 80", "192.0.2.1 99999", "1.2 80", "Checked: 12"} {
		if specs, err := ParseLine(line, nil); err != errApart {
			t.Errorf("%q: %v, %v", line, specs, err)
		}
	}
	specs, err := ParseLine("http://192.0.2.1 weight=2 country=de", nil)
	if err != nil || shown(specs) != "http://192.0.2.1:80 de x2" {
		t.Errorf("a URL with keys: %v, %v", specs, err)
	}
}

func TestLineThatIsNoAddressSaysWhatItIs(t *testing.T) {
	for line, want := range map[string]error{
		"192.0.2.1,8080,us3r,s3cret": errSeparated, "192.0.2.1;8080": errSeparated, "192.0.2.1:80,192.0.2.2:80": errSeparated, "192.0.2.1:80;": errSeparated,
		"['192.0.2.1:80', '192.0.2.2:80']": errSeparated, "socks5|192.0.2.1|80": errSeparated,
		"http://192.0.2.1:80, http://192.0.2.2:80": errSeparated,
		"<!DOCTYPE html>":                          errMarkup, "192.0.2.1:80<br/>": errMarkup, "<td>192.0.2.1</td><td>80</td>": errMarkup,
		"- 192.0.2.1:80": errInFront, "1. us3r:s3cret@h:1": errInFront, "PROXY 192.0.2.1:80": errInFront,
		"http_proxy=http://us3r:s3cret@h:1": errInFront, "export HTTPS_PROXY=http://h:1": errInFront,
		"192.0.2.1: 80": errApart, "192.0.2.1 : 80": errApart, "us3r:s3cret @ h:1": errApart,
		"192.0.2.1:80@us3r:s3cret": errReversed, "h.example:80@us3r": errReversed,
		"192.0.2.1\uff1a80": errIDN, "192.0.2.1": errNoPort, "192.0.2.1:x:us3r:p,ss": errForm,
	} {
		if specs, err := ParseLine(line, nil); err != want {
			t.Errorf("%q: %v, %v", line, specs, err)
		}
	}
}

// BenchmarkParseTable100k reads a list as it was copied from a page.
func BenchmarkParseTable100k(b *testing.B) {
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "10.%d.%d.%d\t8080\tUS\tUnited States\telite proxy\tno\tyes\t1 min ago\n", i>>16, i>>8&255, i&255)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		list, err := ParseList(strings.NewReader(text.String()), nil)
		if err != nil || len(list.Specs) != 100_000 {
			b.Fatalf("%d specs, %v", len(list.Specs), err)
		}
	}
}
