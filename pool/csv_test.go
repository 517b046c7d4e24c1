package pool

import (
	"strings"
	"testing"
)

// Excel is told by such a line what stands between the fields, and writes it likewise.
func TestTableForExcelHadNoPort(t *testing.T) {
	for text, lines := range map[string]int{
		"sep=;\r\nip;port;user;pass\r\n192.0.2.1;80;us3r;p,w\r\n":               3,
		"\ufeff\"sep=,\"\nip,port,user,pass\n192.0.2.1,80,us3r,\"p,w\"\n":       3,
		"SEP=\t\r\n\r\n# x\r\nip\tport\tuser\tpass\r\n192.0.2.1\t80\tus3r\tp,w": 5,
		"sep=|\nip|port|user|pass\n192.0.2.1|80|us3r|p,w\n":                     3,
		"sep=;\nus3r:p%2Cw@192.0.2.1:80\n":                                      2,
		"sep=;\nproxy,x;weight\n":                                               0,
	} {
		list, err := ParseList(strings.NewReader(text), nil)
		if lines == 0 {
			if err == nil || strings.Contains(err.Error(), "line 1:") {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if err != nil || shown(list.Specs) != "http://us3r:p%2Cw@192.0.2.1:80" || list.Lines != lines || len(list.Skipped) != 0 {
			t.Errorf("%q: %s, %d lines, skipped %v, %v", text, shown(list.Specs), list.Lines, list.Skipped, err)
		}
	}
	list, _ := ParseList(strings.NewReader("sep=;\nip;port\n192.0.2.1;x\n"), nil)
	if len(list.Skipped) != 1 || list.Skipped[0].Line != 3 {
		t.Errorf("skipped %v, want line 3", list.Skipped)
	}
}

func TestTableWithMoreThanRowsLostThem(t *testing.T) {
	for name, text := range map[string]string{
		"header again":             "ip,port\n192.0.2.1,80\nip,port\n192.0.2.2,80\n",
		"separator behind the row": "ip,port\n192.0.2.1,80,\n192.0.2.2,80,,\n",
		"Markdown":                 "| IP | Port |\n|:---|----:|\n| 192.0.2.1 | 80 |\n| 192.0.2.2 | 80 |\n",
		"Markdown without edges":   "IP | Port\n---|---\n192.0.2.1 | 80\n192.0.2.2 | 80\n",
	} {
		list, err := ParseList(strings.NewReader(text), nil)
		if err != nil || addresses(list.Specs) != "192.0.2.1:80 192.0.2.2:80" || len(list.Skipped) != 0 || len(list.Ignored) != 0 {
			t.Errorf("%s: %s, skipped %v, ignored %v, %v", name, addresses(list.Specs), list.Skipped, list.Ignored, err)
		}
	}
}

func TestColumnWithAnotherNameWasNotTold(t *testing.T) {
	_, err := ParseList(strings.NewReader("Address;Port number;Typ\n192.0.2.1;80;http\n"), nil)
	if err == nil || !strings.Contains(err.Error(), `mean nothing here: "Port number", "Typ"`) {
		t.Error(err)
	}
	if list := parseText(t, "IP:Port,Country\n192.0.2.1:80,DE\n"); shown(list.Specs) != "http://192.0.2.1:80 DE" {
		t.Error(shown(list.Specs))
	}
}

func TestFileThatIsNoTextSaysWhatToDo(t *testing.T) {
	for start, want := range map[string]string{
		"PK\x03\x04\x14\x00": "save it as CSV", "\xd0\xcf\x11\xe0\xa1": "save it as CSV", "\x1f\x8b\x08": "unpack", `{\rtf1\ansi`: "plain text",
	} {
		if _, err := ParseList(strings.NewReader(start+"\n\n"), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", start, err)
		}
	}
}

// The quote took in all rows behind it, and a pool of a hundred shrank to one.
func TestQuoteThatIsNotClosedLostTheRowsBehindIt(t *testing.T) {
	for bad, want := range map[string]string{
		`"p`: "quote is not closed", `"p""`: "quote is not closed", `"`: "quote is not closed",
		`"s3"cret`: "behind its closing quote", `"s3"cret"`: "behind its closing quote", `"" `: "behind its closing quote",
		`"a",s3"cret`: "without quotes around it",
	} {
		for _, comma := range []string{",", ";", "\t", "|"} {
			rows := []string{"ip,port,user,pass,x", "# \"note", "192.0.2.1,80,u,p,", "192.0.2.2,80,u," + bad, "192.0.2.3,80,u,\"p\",", "192.0.2.4,80,\"u\",p,", ""}
			list := parseText(t, strings.ReplaceAll(strings.Join(rows, "\r\n"), ",", comma))
			if got := addresses(list.Specs); got != "192.0.2.1:80 192.0.2.3:80 192.0.2.4:80" || list.Lines != 6 || list.Unfinished {
				t.Errorf("%s between %q: %s, %d lines, unfinished %v", bad, comma, got, list.Lines, list.Unfinished)
			}
			if len(list.Skipped) != 1 || list.Skipped[0].Line != 4 || !strings.Contains(list.Skipped[0].Reason, want) {
				t.Errorf("%s between %q: skipped %v, want line 4: %s", bad, comma, list.Skipped, want)
			}
		}
	}
}

func TestQuotesOfATableAreOfTheirField(t *testing.T) {
	for field, want := range map[string]string{`s3"cret`: `s3"cret`, `"p,""w"""`: `p,"w"`, `""`: "", `"p"`: "p", ` p" `: `p"`} {
		list := parseText(t, "ip,port,user,pass\n192.0.2.1,80,u,"+field)
		if len(list.Specs) != 1 || list.Specs[0].Password.Reveal() != want || !list.Unfinished {
			t.Errorf("%s: %s, skipped %v", field, shown(list.Specs), list.Skipped)
		}
	}
}

func TestCommentOrAlignmentInATableWasABadRow(t *testing.T) {
	for name, text := range map[string]string{
		"commented out":      "ip,port\n;192.0.2.9,80\n192.0.2.1,80\n; a \"note\n// note, and more, of it\n \t\n  # note\n192.0.2.2,80\n",
		"Markdown, centred":  "|IP|Port|\n|:-:|:-:|\n|192.0.2.1|80|\n|192.0.2.2|80|\n",
		"Markdown, shortest": "|IP|Port|x|\n|-|-:|:-|\n|192.0.2.1|80||\n|192.0.2.2|80||\n",
		"names before it":    "name,ip,port\n;a,192.0.2.1,80\n//b,192.0.2.2,80\n",
	} {
		list := parseText(t, text)
		if addresses(list.Specs) != "192.0.2.1:80 192.0.2.2:80" || len(list.Skipped) != 0 {
			t.Errorf("%s: %s, skipped %v", name, addresses(list.Specs), list.Skipped)
		}
	}
	list := parseText(t, "ip;port\n192.0.2.1;80\n;80\n")
	if len(list.Skipped) != 1 || list.Skipped[0].Line != 3 {
		t.Errorf("a row without its host: skipped %v", list.Skipped)
	}
}
