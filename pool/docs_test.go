package pool

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swivel/breaker"
)

// wordsOf are the names of a closed set, up to the first number that has none.
func wordsOf[T interface {
	~uint8
	String() string
}]() (names []string) {
	for v := T(0); v.String() != "unknown"; v++ {
		names = append(names, v.String())
	}
	return names
}

// TestTheGlossaryHasEveryWord of the closed sets that fill logs and metrics, and no
// other.
func TestTheGlossaryHasEveryWord(t *testing.T) {
	text, err := os.ReadFile("../docs/signals.md")
	if err != nil {
		t.Fatal(err)
	}
	for heading, want := range map[string][]string{
		"Signals": wordsOf[Signal](), "Outcomes": wordsOf[breaker.Outcome](), "Rules": wordsOf[breaker.Rule](),
		"Why a proxy is passed over": skipNames[:],
	} {
		_, section, _ := strings.Cut(string(text), "\n## "+heading+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		var got []string
		for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(section, -1) {
			got = append(got, row[1])
		}
		want = slices.Sorted(slices.Values(want))
		if slices.Sort(got); len(want) < 5 || !slices.Equal(got, want) {
			t.Errorf("docs/signals.md has under %q %v, want %v", heading, got, want)
		}
	}
}
