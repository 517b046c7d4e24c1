package reply

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// codes are those in this package's source.
func codes(t *testing.T) (all []string) {
	t.Helper()
	literal := regexp.MustCompile(`Code: +"([a-z_]+)"`)
	for _, name := range []string{"reply.go", "reasons.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range literal.FindAllStringSubmatch(string(text), -1) {
			all = append(all, found[1])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestTroubleshootingHasEveryCode, and no other.
func TestTroubleshootingHasEveryCode(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	var headed []string
	for _, found := range regexp.MustCompile("(?m)^## `([a-z_]+)`").FindAllStringSubmatch(string(text), -1) {
		headed = append(headed, found[1])
	}
	slices.Sort(headed)
	if all := codes(t); len(all) < 5 || !slices.Equal(headed, all) {
		t.Errorf("docs/troubleshooting.md has %v, the codes are %v", headed, all)
	}
	for _, r := range every {
		if !slices.Contains(headed, r.code) {
			t.Errorf("docs/troubleshooting.md does not have %s", r.code)
		}
	}
}
