package simulate

import (
	"fmt"
	"testing"
	"time"
)

// TestSimulationOfALargePool: of many proxies that nobody has ever used 40 % are
// dead. How long does it take to find out, what do clients notice, and what does
// the hub have to do?
func TestSimulationOfALargePool(t *testing.T) {
	pools := []large{{someDead(20, 1000, 5), 10 * time.Second, 4}}
	if *full {
		pools = []large{
			{someDead(100, 10_000, 10), 10 * time.Second, 9},
			{someDead(1000, 10_000, 1), 15 * time.Second, 3},
			{someDead(1000, 100_000, 1), 3 * time.Second, 2},
		}
	}
	for _, s := range pools {
		w := newWorld(s.setup)
		a := newTable(fmt.Sprintf("%d instances with %g exchanges a second each, %d proxies of which 40 %% are dead.", s.instances, s.rate, len(s.proxies)),
			"from", "served", "dead at the first try", "tests a second", "late: median", "late: worst", "calls a second", "commands a second", "told a second", "returned a second", "KB/s in", "KB/s out", "server", "call: p99", "breakers of all")
		var last span
		for range s.spans {
			last = w.span(s.span)
			a.add(last.row()...)
		}
		a.print(t)
		if took := last.work.takes(); took > last.length*3/4 {
			t.Errorf("%d instances, %d proxies: the server works for %v of %v", s.instances, len(s.proxies), took, last.length)
		}
	}
}

type large struct {
	setup
	span  time.Duration
	spans int
}

// someDead is a pool of which four in ten are dead.
func someDead(instances, proxies int, rate float64) setup {
	s := setup{seed: 4, instances: instances, rate: rate, proxies: make([]float64, proxies), fresh: true}
	for i := range s.proxies {
		if i%5 < 2 {
			s.proxies[i] = 1
		}
	}
	return s
}

// span is what has happened in some time.
type span struct {
	from, length      time.Duration
	exchanges, served int
	ordinary, failed  int // attempts that are no tests
	lates             []time.Duration
	calls             []time.Duration
	work              work
	breakers          int
}

// span lets time go by.
func (w *world) span(d time.Duration) (s span) {
	from, before, work := w.now, w.figures, w.hub.work
	w.calls = nil
	w.onAttempt = func(n *node, i int, probe, fails bool) {
		if probe {
			standing, _, _ := n.members[i].breaker.Standing(n.now())
			s.lates = append(s.lates, n.now().Sub(standing.Until))
			return
		}
		s.ordinary++
		if fails {
			s.failed++
		}
	}
	w.pass(d)
	s.from, s.length = from, d
	s.exchanges, s.served = w.exchanges-before.exchanges, w.served-before.served
	s.calls, s.work = w.calls, w.hub.work.since(work)
	for _, n := range w.nodes {
		s.breakers += len(n.members)
	}
	return s
}

func (s *span) row() []any {
	per := func(n int) string { return fmt.Sprintf("%.0f", float64(n)/s.length.Seconds()) }
	return []any{
		s.from, percent(s.served, s.exchanges), percent(s.failed, s.ordinary),
		per(len(s.lates)), quantile(s.lates, .5), quantile(s.lates, 1),
		per(s.work.calls), per(s.work.commands), per(s.work.told), per(s.work.returned),
		per(s.work.received / 1000), per(s.work.sent / 1000), s.share(), quantile(s.calls, .99), s.breakers,
	}
}

// share of a server's processor.
func (s *span) share() string { return percent(int(s.work.takes()), int(s.length)) }
