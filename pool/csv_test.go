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
