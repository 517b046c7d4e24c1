package soak

import (
	"strings"
	"testing"
	"time"
)

// curve has a sample every 10 s for five minutes.
func curve(at func(i int) Sample) (samples []Sample) {
	for i := range 30 {
		s := at(i)
		s.At = time.Duration(i) * 10 * time.Second
		samples = append(samples, s)
	}
	return samples
}

// grow names what grows.
func grow(samples []Sample) (names []string) {
	for _, g := range Growths(samples) {
		if g.Grows {
			names = append(names, g.What)
		}
	}
	return names
}

func TestFirstMinuteDoesNotCount(t *testing.T) {
	steep := func(i int) Sample {
		return Sample{RSS: int64(min(i, 6)) << 23, FDs: 100 * min(i, 6), Threads: 5 * min(i, 6), Goroutines: 100 * min(i, 6)}
	}
	if names := grow(curve(steep)); names != nil {
		t.Errorf("%q grow", names)
	}
}

func TestWhatComesAndGoesIsNoGrowth(t *testing.T) {
	wavy := func(i int) Sample {
		return Sample{RSS: 40<<20 + int64(i%3)<<20, FDs: 100 + i%15, Threads: 9 + i%3, Goroutines: 200 + i%20}
	}
	if names := grow(curve(wavy)); names != nil {
		t.Errorf("%q grow", names)
	}
}

func TestLeaksGrow(t *testing.T) {
	for want, leak := range map[string]func(i int) Sample{
		"RSS MiB":    func(i int) Sample { return Sample{RSS: 40<<20 + int64(i)<<19} },
		"fds":        func(i int) Sample { return Sample{FDs: 100 + 2*i} },
		"threads":    func(i int) Sample { return Sample{Threads: 9 + i/3} },
		"goroutines": func(i int) Sample { return Sample{Goroutines: 100 + 2*i} },
	} {
		if got := grow(curve(leak)); strings.Join(got, ", ") != want {
			t.Errorf("%q grow, want %s", got, want)
		}
	}
}

func TestTooFewSamplesSayNothing(t *testing.T) {
	few := curve(func(int) Sample { return Sample{} })[:14]
	if got := Growths(few); got != nil {
		t.Errorf("%+v", got)
	}
	if got := Growths(nil); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestParseGoroutines(t *testing.T) {
	for text, want := range map[string]int{
		"# TYPE go_goroutines gauge\ngo_goroutines 41\nx 1\n": 41,
		"go_goroutines_ever 7\n":                              -1,
		"":                                                    -1,
	} {
		if got, err := parseGoroutines(strings.NewReader(text)); got != want || err != nil {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

func TestSampleStandsUnderItsHead(t *testing.T) {
	line := Sample{At: 90 * time.Second, RSS: 30 << 20, FDs: 500, Threads: 11, Goroutines: -1, Done: 1000}.String()
	if want := " 1m30s     30.0  500       11           -       1000       0        0\n"; line != want || len(line) != len(sampleHead) {
		t.Errorf("got %q, want %q", line, want)
	}
}
