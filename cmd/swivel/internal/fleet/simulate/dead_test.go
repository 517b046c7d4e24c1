package simulate

import (
	"fmt"
	"testing"
	"time"
)

// TestSimulationOfADeadProxy: all exchanges of all instances go to one proxy, which
// worked and then dies.
func TestSimulationOfADeadProxy(t *testing.T) {
	sizes, rates := []int{1, 3, 10, 100, 1000}, []float64{1, 10}
	if !*full {
		sizes, rates = []int{1, 3, 10, 100}, []float64{1}
	}
	a := newTable("A proxy dies that all use: attempts on it until all instances rest it.",
		"instances", "exchanges a second of each", "without a fleet", "", "with", "", "in flight within a call", "all know", "server")
	for _, rate := range rates {
		threshold := 0 // of one instance: more than five when it is busy
		for _, n := range sizes {
			s := setup{seed: 1, instances: n, rate: rate}
			with, apart := s.dies(), s
			apart.apart = true
			without := apart.dies()
			if n == 1 {
				threshold = max(with.attempts, without.attempts)
			}
			inFlight := int(float64(n)*rate*s.delay().Seconds()) + 1
			a.add(n, rate, without.attempts, without.took, with.attempts, with.took, inFlight, with.learnt, percent(int(with.work.takes()), int(with.took)))
			if most := threshold + max(3, 3*inFlight/2); with.attempts > most {
				t.Errorf("%d instances: %d attempts, want %d at most", n, with.attempts, most)
			}
		}
	}
	a.print(t)
}

// delay is how long it takes at most to learn of something.
func (s setup) delay() time.Duration {
	w := newWorld(setup{})
	return w.times.PaceOf(s.instances).Gap + w.times.Batch + 2*w.latency
}

type death struct {
	attempts int
	took     time.Duration // from the death until all rest it
	learnt   time.Duration // from the first one that rests it until all do
	work     work
}

func (s setup) dies() (d death) {
	s.proxies, s.tries = []float64{0}, 1
	w := newWorld(s)
	w.pass(10 * time.Second)
	w.proxies[0] = 1
	died, first, before := w.now, time.Duration(0), w.hub.work
	w.onAttempt = func(n *node, _ int, _, fails bool) {
		if fails {
			d.attempts++
		}
	}
	resting := func() (n int) {
		for _, one := range w.nodes {
			if one.member(0).breaker.Resting() {
				n++
			}
		}
		return n
	}
	_, ok := w.passUntil(func() bool {
		n := resting()
		if n > 0 && first == 0 {
			first = w.now
		}
		return n == len(w.nodes)
	}, 10*time.Millisecond, 10*time.Minute)
	if !ok {
		panic(fmt.Sprintf("%+v: it is never rested", s))
	}
	d.took, d.learnt, d.work = w.now-died, w.now-first, w.hub.work.since(before)
	return d
}
