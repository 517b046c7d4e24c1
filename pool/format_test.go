package pool

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"swivel/breaker"
)

func TestPrintedLineParsesBack(t *testing.T) {
	text := rapid.StringMatching(`[^"\x00-\x1f\x7f-\x{9f}\x{fffd}\x{feff}]{0,12}[a-z#]`)
	rapid.Check(t, func(t *rapid.T) {
		s := genSpec().Draw(t, "spec")
		s.Scheme = s.Scheme.canonical()
		s.Weight = rapid.Float64Range(0, maxWeight).Draw(t, "weight")
		s.Rate = rapid.Float64Range(0, 1e6).Draw(t, "rate")
		s.MaxInFlight = rapid.IntRange(0, 1000).Draw(t, "max_in_flight")
		s.Insecure = rapid.Bool().Draw(t, "insecure")
		for _, field := range []*string{&s.Name, &s.Provider, &s.Region, &s.Country, &s.City, &s.CA} {
			if rapid.Bool().Draw(t, "given") {
				*field = text.Draw(t, "text")
			}
		}
		s.Tags = rapid.SliceOfN(text, 0, 2).Draw(t, "tags")
		if len(s.Tags) == 0 {
			s.Tags = nil
		}
		if s.RotatingSet = true; rapid.Bool().Draw(t, "rotating") {
			s.Rotating = true
		}
		if rapid.Bool().Draw(t, "overrides") {
			for key, value := range map[string]string{"open_timeout": "1m30s", "error_ratio": "0.25", "consecutive_failures": "0"} {
				if _, err := s.Breaker.Set(key, value); err != nil {
					t.Fatal(err)
				}
			}
		}
		specs, err := ParseLine(s.Line(), nil)
		if err != nil || len(specs) != 1 {
			t.Fatalf("%s: %d specs, %v", s.Line(), len(specs), err)
		}
		if diff := cmp.Diff(s, *specs[0], cmp.Comparer(func(a, b breaker.Overrides) bool { return a == b })); diff != "" {
			t.Fatalf("%s:\n%s", s.Line(), diff)
		}
	})
}

func TestQuoteInsideQuotesCannotBeWritten(t *testing.T) {
	s := Spec{Host: "h", Port: 1, Weight: 1, Name: `a "b" c`, City: `x"y`, Region: `"z`}
	if got := s.Line(); got != `http://h:1 name="a 'b' c" region="'z" city=x"y` {
		t.Error(got)
	}
}
