package pool

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func parseText(t *testing.T, text string) List {
	t.Helper()
	list, err := ParseList(strings.NewReader(text), testEnv)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// addresses prints a list for comparison.
func addresses(specs []*Spec) string {
	var b strings.Builder
	for i := range specs {
		fmt.Fprintf(&b, "%s ", specs[i].Address())
	}
	return strings.TrimSpace(b.String())
}

func TestListFromAWindowsPanel(t *testing.T) {
	list := parseText(t, "\ufeffhttp://127.0.0.1:7001\r\nsocks5://127.0.0.1:7005 name=five\r\n\r\n")
	if got := addresses(list.Specs); got != "127.0.0.1:7001 127.0.0.1:7005" || list.Specs[1].Name != "five" {
		t.Errorf("%s, name %q", got, list.Specs[1].Name)
	}
	if len(list.Skipped) != 0 || list.Lines != 3 {
		t.Errorf("%d lines, skipped %v", list.Lines, list.Skipped)
	}
}

func TestBadLineDoesNotSpoilTheList(t *testing.T) {
	list := parseText(t, "http://127.0.0.1:7001\n\n   \nvless://u:s3cret@x\nsocks5://127.0.0.1:7005\n")
	if got := addresses(list.Specs); got != "127.0.0.1:7001 127.0.0.1:7005" {
		t.Error(got)
	}
	if len(list.Skipped) != 1 || list.Skipped[0].Line != 4 || !strings.Contains(list.Skipped[0].Reason, `"vless"`) {
		t.Errorf("skipped %v", list.Skipped)
	}
	if got := list.Skipped[0].Error(); !strings.HasPrefix(got, "line 4: unknown scheme") || strings.Contains(got, leak) {
		t.Error(got)
	}
}

func TestCommentsAndBlanks(t *testing.T) {
	list := parseText(t, "# note\n; note\n// note\n\t \n  http://127.0.0.1:7001  weight=3   # eu\n"+
		"http://user1:a#b@127.0.0.1:7001 #x\n#\n")
	if len(list.Specs) != 2 || len(list.Skipped) != 0 {
		t.Fatalf("%d specs, skipped %v", len(list.Specs), list.Skipped)
	}
	if list.Specs[0].Weight != 3 || list.Specs[1].Password != "a#b" {
		t.Errorf("weight %v, password %q", list.Specs[0].Weight, list.Specs[1].Password.Reveal())
	}
}

func TestLastLineWithoutEnd(t *testing.T) {
	for text, want := range map[string]bool{"h:1\nh:2": true, "h:1\nh:2\n": false, "h:1\n# x": true} {
		if list := parseText(t, text); list.Unfinished != want || list.Lines != 2 {
			t.Errorf("%q: unfinished %v, %d lines", text, list.Unfinished, list.Lines)
		}
	}
}

func TestOverlongLineIsSkippedAndTheRestRead(t *testing.T) {
	for _, size := range []int{maxLine, maxLine + 1, 2 * maxLine, 3*maxLine + 7} {
		long := "u:" + strings.Repeat("s", size-2)
		list := parseText(t, "h:1\n"+long+"\nh:2\n"+long)
		if got := addresses(list.Specs); got != "h:1 h:2" || list.Lines != 4 || !list.Unfinished {
			t.Errorf("%d bytes: %s, %d lines, unfinished %v", size, got, list.Lines, list.Unfinished)
		}
		if len(list.Skipped) != 2 || list.Skipped[0] != (LineError{Place{Line: 2}, errLong.Error()}) || list.Skipped[1].Line != 4 {
			t.Errorf("%d bytes: skipped %v", size, list.Skipped)
		}
	}
	fits := "h:1:u:" + strings.Repeat("s", maxLine-7) + "\n"
	if list := parseText(t, fits); len(list.Specs) != 1 {
		t.Errorf("skipped %v", list.Skipped)
	}
}

func TestNothingUsableSaysWhy(t *testing.T) {
	text := "# list\nvless://u:s3cret@x\nfoo\nh:s3cret\nbar\nbaz\n"
	list, err := ParseList(strings.NewReader(text), nil)
	if !errors.Is(err, ErrNoProxies) || len(list.Skipped) != 5 {
		t.Fatalf("%v, skipped %v", err, list.Skipped)
	}
	for _, part := range []string{"read 6 lines", "refused 5", `line 2: unknown scheme "vless"`, "line 3:", "line 4:", "and 2 more"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
	if strings.Contains(err.Error(), leak) {
		t.Errorf("quotes the credentials: %v", err)
	}
}

func TestEmptyListIsAnError(t *testing.T) {
	for _, text := range []string{"", "\n\n", "# only comments\n"} {
		if _, err := ParseList(strings.NewReader(text), nil); !errors.Is(err, ErrNoProxies) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestHalfReadListIsNotUsed(t *testing.T) {
	fault := errors.New("disk on fire")
	list, err := ParseList(io.MultiReader(strings.NewReader("h:1\nh:2\nh"), iotest.ErrReader(fault)), nil)
	if !errors.Is(err, fault) || errors.Is(err, ErrNoProxies) || len(list.Specs) != 0 {
		t.Errorf("%v, %d specs", err, len(list.Specs))
	}
	long := io.MultiReader(strings.NewReader(strings.Repeat("x", 2*maxLine)), iotest.ErrReader(fault))
	if _, err := ParseList(long, nil); !errors.Is(err, fault) {
		t.Errorf("within a long line: %v", err)
	}
}

func TestSlowReaderChangesNothing(t *testing.T) {
	list, err := ParseList(iotest.OneByteReader(strings.NewReader("h:1\r\nbad\r\nh:2\r\n")), nil)
	if err != nil || addresses(list.Specs) != "h:1 h:2" || len(list.Skipped) != 1 || list.Skipped[0].Line != 2 {
		t.Errorf("%s, skipped %v, %v", addresses(list.Specs), list.Skipped, err)
	}
}

// What a URL answers with may be anything, and so may be a file that was named by
// mistake.
func TestFileThatIsNoListIsGivenUp(t *testing.T) {
	for name, text := range map[string]string{
		"lines":  strings.Repeat("x\n", 2*maxSkipped),
		"JSON":   `["x"` + strings.Repeat(`,1`, 2*maxSkipped) + "]",
		"CSV":    "host,port\n" + strings.Repeat("x,0\n", 2*maxSkipped),
		"base64": base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x\n", 2*maxSkipped))),
		"YAML":   "proxies:\n" + strings.Repeat("- a\n", maxSkipped+2),
	} {
		list, err := ParseList(strings.NewReader(text), nil)
		if !errors.Is(err, errNoList) || len(list.Skipped) > 0 {
			t.Errorf("%s: %v, %d lines kept", name, err, len(list.Skipped))
		}
	}
	if _, err := ParseList(strings.NewReader("proxies:\n"+strings.Repeat("- a\n", maxYAML/4)), nil); !errors.Is(err, errYAML) {
		t.Errorf("long YAML: %v", err)
	}
}

func TestListOfTooManyIsCutShortAndSaysSoOnce(t *testing.T) {
	var text strings.Builder
	for port := range 51 {
		fmt.Fprintf(&text, "192.0.2.%d:1-10000\n", port)
	}
	text.WriteString(strings.Repeat("192.0.2.99:80\n", 1000))
	list, err := ParseList(strings.NewReader(text.String()), nil)
	if err != nil || len(list.Specs) != maxProxies || len(list.Skipped) != 1 || list.Skipped[0].Line != 51 {
		t.Errorf("%v, %d proxies, skipped %v", err, len(list.Specs), list.Skipped[:min(3, len(list.Skipped))])
	}
}

func TestRangesCannotFillTheMemory(t *testing.T) {
	list := List{Specs: make([]*Spec, maxProxies-3)}
	list.take(ones(4), nil)
	if got := len(list.Specs); got != maxProxies-3 || !list.full {
		t.Errorf("one too many: %d specs", got)
	}
	list.full = false
	list.take(ones(3), nil)
	if got := len(list.Specs); got != maxProxies || list.full {
		t.Errorf("the last ones: %d specs", got)
	}
}

// manyLines is a list of the given length as vendors export it.
func manyLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "10.%d.%d.%d:8080\r\n", i>>16, i>>8&255, i&255)
		case 1:
			fmt.Fprintf(&b, "gate.vendor.example:%d:customer-sessid-%d:s3cretword\r\n", 10000+i%1000, i)
		case 2:
			fmt.Fprintf(&b, "socks5://customer-%d:s3cretword@gate.vendor.example:1080 country=de\r\n", i)
		case 3:
			fmt.Fprintf(&b, "http://p%d.vendor.example:3128 weight=2 provider=vendor region=eu tag=static\r\n", i)
		}
	}
	return b.Bytes()
}

func BenchmarkParseList100k(b *testing.B) {
	text := manyLines(100_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		list, err := ParseList(bytes.NewReader(text), nil)
		if err != nil || len(list.Specs) != 100_000 {
			b.Fatalf("%d specs, %v", len(list.Specs), err)
		}
	}
}

// endless is one character, again and again.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '#'
	}
	return len(p), nil
}

func TestLineWithoutAnEndWasReadForEver(t *testing.T) {
	if _, err := ParseList(endless{}, nil); !errors.Is(err, errEndless) {
		t.Errorf("error %v", err)
	}
}
