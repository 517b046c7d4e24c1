package simulate

import (
	"fmt"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/fleet"
)

// others are the times that were not chosen, each with one of them changed, which
// matters to what is told or to leases.
var others = []struct {
	name          string
	telling, test bool
	set           func(t *fleet.Times)
}{
	{"as they are", true, true, func(*fleet.Times) {}},
	{"batch 0 ms", true, false, func(t *fleet.Times) { t.Batch = 0 }},
	{"batch 200 ms", true, false, func(t *fleet.Times) { t.Batch = 200 * time.Millisecond }},
	{"calls 500", true, false, func(t *fleet.Times) { t.Calls = 500 }},
	{"calls 2,000", true, false, func(t *fleet.Times) { t.Calls = 2000 }},
	{"calls 20,000", true, false, func(t *fleet.Times) { t.Calls = 20_000 }},
	{"tally 200 ms", true, false, func(t *fleet.Times) { t.Tally = 200 * time.Millisecond }},
	{"tally 5 s", true, false, func(t *fleet.Times) { t.Tally = 5 * time.Second }},
	{"known 2,000", true, false, func(t *fleet.Times) { t.Known = 2000 }},
	{"answers 20,000", true, false, func(t *fleet.Times) { t.Answers = 20_000 }},
	{"answers 2,000,000", true, false, func(t *fleet.Times) { t.Answers = 2_000_000 }},
	{"alone after 1 s", false, true, func(t *fleet.Times) { t.AloneAfter = time.Second }},
	{"lease for 2 s", false, true, func(t *fleet.Times) { t.LeaseFor = 2 * time.Second }},
	{"lease for 15 s", false, true, func(t *fleet.Times) { t.LeaseFor = 15 * time.Second }},
	{"lease ahead 0 s", false, true, func(t *fleet.Times) { t.LeaseAhead = 0 }},
	{"lease ahead 5 s", false, true, func(t *fleet.Times) { t.LeaseAhead = 5 * time.Second }},
	{"hold 1 s", false, true, func(t *fleet.Times) { t.HoldFirst = time.Second }},
	{"hold 15 s", false, true, func(t *fleet.Times) { t.HoldFirst = 15 * time.Second }},
}

// TestSimulationOfOtherTimes: what would be if the times of the policy were others?
func TestSimulationOfOtherTimes(t *testing.T) {
	if !*full {
		t.Skip("it says why the times are what they are, and finds no mistakes")
	}
	a := newTable("With other times: attempts on a proxy that dies under 10, 100 and 1,000 instances with one exchange a second each; the first 15 seconds of 400 instances and 4,000 proxies of which 40 % are dead; "+
		"how often sound proxies were opened that fail at 25 %.",
		"", "attempts: 10", "100", "1,000", "dead at the first try", "calls a second", "returned a second", "KB/s out", "server", "opened")
	b := newTable("Twenty dead proxies and 100 instances, of which one dies each second, with a hub that is stuck for 1.5 s, every 10 s.",
		"", "rests", "more than one test", "late: median", "late: 95 %", "late: worst")
	for _, o := range others {
		times := fleet.DefaultTimes()
		o.set(&times)
		if o.telling {
			a.add(append([]any{o.name}, telling(times)...)...)
		}
		if o.test {
			w := newWorld(setup{seed: 2, instances: 100, rate: 1, proxies: make([]float64, 20), tries: 1, times: times})
			p := w.tests(func(w *world) { instancesDie(w); hubIsStuck(w) }, 4*time.Minute)
			b.add(o.name, len(p.rests), p.double(), p.late(.5), p.late(.95), p.late(1))
		}
	}
	a.print(t)
	b.print(t)
}

func telling(times fleet.Times) (row []any) {
	for _, n := range []int{10, 100, 1000} {
		row = append(row, setup{seed: 1, instances: n, rate: 1, times: times}.dies().attempts)
	}
	pool := someDead(400, 4000, 2)
	pool.times = times
	span := newWorld(pool).span(15 * time.Second)
	per := func(n int) string { return fmt.Sprintf("%.0f", float64(n)/15) }
	row = append(row, percent(span.failed, span.ordinary), per(span.work.calls), per(span.work.returned), per(span.work.sent/1000), span.share())
	s := setup{seed: 3, instances: 10, rate: 10, proxies: make([]float64, 10), times: times}
	for i := range s.proxies {
		s.proxies[i] = 0.25
	}
	return append(row, newWorld(s).sound(4*time.Minute).opened)
}
