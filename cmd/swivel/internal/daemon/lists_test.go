package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"swivel/breaker"
)

func TestOnlyProxyIsTakenForAGatewayUnlessItsLineSaysOtherwise(t *testing.T) {
	for text, want := range map[string]bool{
		"h:1\n":                      true,
		"h:1\nh:1\n":                 true, // merged
		"h:1 rotating=false\n":       false,
		"h:1\nh:2\n":                 false,
		"h:1-2\n":                    false,
		"h:1\nu-{random}:p@h:2\n":    false,
		"h:1 rotating\nh:2\n":        true,
		"bad\nh:1 weight=2 tag=a\n#": true,
	} {
		file := filepath.Join(t.TempDir(), "proxies.txt")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		lists, err := ReadLists([]string{file}, breaker.DefaultSettings())
		if err != nil || lists.Specs[0].Rotating != want {
			t.Errorf("%q: %v, rotating %v", text, err, lists.Specs[0].Rotating)
		}
	}
}
