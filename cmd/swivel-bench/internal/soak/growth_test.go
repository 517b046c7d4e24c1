package soak

import (
	"maps"
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
		"heap MiB":   func(i int) Sample { return Sample{Heap: int64(20+10*(i%2))<<20 + int64(i)<<19} },
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

func TestParseMetrics(t *testing.T) {
	text := "# TYPE go_goroutines gauge\ngo_goroutines 41\ngo_goroutines_ever 7\nswivel_in_flight_attempts 3\n" +
		"swivel_exchanges_total{kind=\"connect\",status=\"200\"} 5\nswivel_exchanges_total{kind=\"connect\",status=\"502\"} 2\nswivel_exchanges_total{kind=\"plain\",status=\"200\"} 1e+06\n"
	got, err := parseMetrics(strings.NewReader(text))
	if err != nil || got.goroutines != 41 || got.inFlight != 3 || !maps.Equal(got.exchanges, map[string]int64{"connect": 7, "plain": 1_000_000}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSampleStandsUnderItsHead(t *testing.T) {
	line := Sample{At: 90 * time.Second, RSS: 30 << 20, FDs: 500, Threads: 11, Goroutines: 44, Totals: Totals{Opened: 1000, Good: 990, Unexplained: 1}}.String()
	if want := " 1m30s     30.0   500       11          44       1000        990        0       0        0            1\n"; line != want || len(line) != len(sampleHead) {
		t.Errorf("got %q, want %q", line, want)
	}
}
