package simulate

import (
	"testing"
	"time"

	"swivel/cmd/swivel/internal/fleet"
)

// others are the times that were not chosen, each with one of them changed.
var others = []struct {
	name string
	set  func(t *fleet.Times)
}{
	{"as they are", func(*fleet.Times) {}},
	{"batch 0 ms", func(t *fleet.Times) { t.Batch = 0 }},
	{"batch 200 ms", func(t *fleet.Times) { t.Batch = 200 * time.Millisecond }},
	{"calls 500", func(t *fleet.Times) { t.Calls = 500 }},
	{"calls 8,000", func(t *fleet.Times) { t.Calls = 8000 }},
	{"tally 200 ms", func(t *fleet.Times) { t.Tally = 200 * time.Millisecond }},
	{"tally 5 s", func(t *fleet.Times) { t.Tally = 5 * time.Second }},
	{"known 2,000", func(t *fleet.Times) { t.Known = 2000 }},
	{"answers 20,000", func(t *fleet.Times) { t.Answers = 20_000 }},
	{"answers 2,000,000", func(t *fleet.Times) { t.Answers = 2_000_000 }},
	{"alone after 1 s", func(t *fleet.Times) { t.AloneAfter = time.Second }},
	{"lease for 2 s", func(t *fleet.Times) { t.LeaseFor = 2 * time.Second }},
	{"lease for 15 s", func(t *fleet.Times) { t.LeaseFor = 15 * time.Second }},
	{"lease ahead 0 s", func(t *fleet.Times) { t.LeaseAhead = 0 }},
	{"lease ahead 5 s", func(t *fleet.Times) { t.LeaseAhead = 5 * time.Second }},
	{"hold 1 s", func(t *fleet.Times) { t.HoldFirst = time.Second }},
	{"hold 15 s", func(t *fleet.Times) { t.HoldFirst = 15 * time.Second }},
}

// TestSimulationOfOtherTimes: what would be if the times of the policy were others?
func TestSimulationOfOtherTimes(t *testing.T) {
	if !*full {
		t.Skip("it says why the times are what they are, and finds no mistakes")
	}
	a := newTable("With other times: attempts on a proxy that dies under 10, 100 and 1,000 instances with one exchange a second each; then 200 instances and 2,000 proxies of which 40 % are dead, "+
		"the second 15 seconds; 100 instances of which one dies each second, and a hub that is stuck now and then, with ten dead proxies; ten instances and sound proxies that fail at 25 %.",
		"", "attempts: 10", "100", "1,000", "dead at the first try", "returned a second", "server", "KB/s out", "late: median", "late: worst", "doubled", "opened")
	for _, o := range others {
		times := fleet.DefaultTimes()
		o.set(&times)
		row := []any{o.name}
		for _, n := range []int{10, 100, 1000} {
			row = append(row, setup{seed: 1, instances: n, rate: 1, times: times}.dies().attempts)
		}
		pool := someDead(200, 2000, 2)
		pool.times = times
		w := newWorld(pool)
		w.pass(15 * time.Second)
		span := w.span(15 * time.Second)
		row = append(row, percent(span.failed, span.ordinary), float64(span.work.returned)/15, span.share(), float64(span.work.sent)/15000)
		w = newWorld(setup{seed: 2, instances: 100, rate: 1, proxies: make([]float64, 10), tries: 1, times: times})
		tests := w.tests(func(w *world) { instancesDie(w); hubIsStuck(w) }, time.Minute)
		row = append(row, tests.late(.5), tests.late(1), tests.double())
		s := setup{seed: 3, instances: 10, rate: 10, proxies: make([]float64, 10), times: times}
		for i := range s.proxies {
			s.proxies[i] = 0.25
		}
		row = append(row, newWorld(s).sound(2*time.Minute).opened)
		a.add(row...)
	}
	a.print(t)
}
