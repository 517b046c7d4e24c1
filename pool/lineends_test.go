package pool

import (
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

func TestListWithLineEndsOfOldMacsWasOneLine(t *testing.T) {
	for text, lines := range map[string]int{
		"192.0.2.1:80\r192.0.2.2:80\r":                 2,
		"\ufeff192.0.2.1:80\r\r192.0.2.2:80":           3,
		"# exported\r192.0.2.1:80\r192.0.2.2:80":       3,
		"ip,port\r192.0.2.1,80\r192.0.2.2,80\r":        3,
		"sep=;\rip;port\r192.0.2.1;80\r192.0.2.2;80\r": 4,
		"[\"192.0.2.1:80\",\r\"192.0.2.2:80\"]\r":      2,
		"MTkyLjAuMi4xOjgwDTE5Mi4wLjIu\rMjo4MA0=\r":     2,
		"proxies:\r- {type: http, server: 192.0.2.1, port: 80}\r- {type: http, server: 192.0.2.2, port: 80}\r": 3,
	} {
		list, err := ParseList(iotest.OneByteReader(strings.NewReader(text)), nil)
		if err != nil || addresses(list.Specs) != "192.0.2.1:80 192.0.2.2:80" || len(list.Skipped) != 0 || list.Lines != lines {
			t.Errorf("%q: %s, skipped %v, %d lines, %v", text, addresses(list.Specs), list.Skipped, list.Lines, err)
		}
	}
	list := parseText(t, "192.0.2.1:80\rx\r192.0.2.2:80\r")
	if len(list.Skipped) != 1 || list.Skipped[0].Line != 2 || list.Unfinished {
		t.Errorf("skipped %v, unfinished %v", list.Skipped, list.Unfinished)
	}
}

// The first bytes of a list, which tell its line ends, may end within a CRLF.
func TestLongFirstLineHidesNoLineEnd(t *testing.T) {
	for length := look - 3; length <= look+3; length++ {
		for _, end := range []string{"\n", "\r\n", "\r"} {
			if end == "\r" && length >= look-1 {
				continue // its end is not in sight
			}
			text := "#" + strings.Repeat("x", length-1) + end + "192.0.2.1:80" + end
			list, err := ParseList(strings.NewReader(text), nil)
			if err != nil || len(list.Specs) != 1 || list.Lines != 2 || list.Unfinished {
				t.Errorf("%d bytes and %q: %d lines, %v", length, end, list.Lines, err)
			}
		}
	}
}

// Where files were put together both kinds of ends come; the buffers' ends must not
// take a CRLF apart.
func TestCRLFAfterCRIsOneLineEnd(t *testing.T) {
	var text strings.Builder
	for i := range 20_000 {
		end := "\r"
		if i > 1000 && i%3 == 0 {
			end = "\r\n"
		}
		fmt.Fprintf(&text, "10.0.%d.%d:80%s", i>>8, i&255, end)
	}
	list := parseText(t, text.String())
	if len(list.Specs) != 20_000 || list.Lines != 20_000 || len(list.Skipped) != 0 {
		t.Errorf("%d proxies, %d lines, skipped %d", len(list.Specs), list.Lines, len(list.Skipped))
	}
}
