package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestManualPageHasEveryCommandAndFlag(t *testing.T) {
	var out, errOut bytes.Buffer
	if code := run([]string{"man"}, func(string) (string, bool) { return "", false }, &out, &errOut); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	page := out.String()
	parser, err := kong.New(new(cli))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range completed(parser.Model.Node, "", nil) {
		if len(n.below) > 0 {
			continue
		}
		_, section, found := strings.Cut(page, "\n.SS swivel "+n.path)
		section, _, _ = strings.Cut(section, "\n.S")
		if !found || !strings.Contains(section, roff(n.help)) {
			t.Errorf("no section about %q", n.path)
		}
		for _, f := range n.flags {
			if f.Name != "help" && !strings.Contains(section, roff("--"+f.Name)) {
				t.Errorf("swivel %s has no --%s", n.path, f.Name)
			}
		}
	}
}

func TestRoffTakesTextForText(t *testing.T) {
	if got, want := roff(".a\n'b \\ --c"), "\\&.a\n\\&'b \\e \\-\\-c"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
