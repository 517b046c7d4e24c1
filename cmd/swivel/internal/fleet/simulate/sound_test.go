package simulate

import (
	"fmt"
	"testing"
	"time"

	"swivel/breaker"
)

// TestSimulationOfSoundProxies: they fail now and then, at random. How often does
// a breaker open for that, and does a fleet open more often than one instance with
// the same traffic?
func TestSimulationOfSoundProxies(t *testing.T) {
	ratios, sizes, lasts := []float64{0.01, 0.05, 0.2}, []int{1, 10, 100}, 10*time.Minute
	if !*full {
		ratios, sizes, lasts = []float64{0.05, 0.2}, []int{1, 10}, 3*time.Minute
	}
	a := newTable(fmt.Sprintf("Ten sound proxies that fail now and then, with 100 exchanges a second in all, for %d minutes: how often one was opened, and which share of the time it rested.", int(lasts.Minutes())),
		"failures", "instances", "opened", "rested", "opened without a fleet", "rested")
	for _, ratio := range ratios {
		var alone sound
		for _, n := range sizes {
			s := setup{seed: 3, instances: n, rate: 100 / float64(n), proxies: make([]float64, 10)}
			for i := range s.proxies {
				s.proxies[i] = ratio
			}
			with := newWorld(s).sound(lasts)
			s.apart = true
			without := newWorld(s).sound(lasts)
			if n == 1 {
				alone = without
			}
			a.add(fmt.Sprintf("%g %%", 100*ratio), n, with.opened, percent(with.out, with.of), without.opened, percent(without.out, without.of))
			if with.opened > 2*alone.opened+10 {
				t.Errorf("%d instances open %d times at %g, one alone %d times", n, with.opened, ratio, alone.opened)
			}
		}
	}
	a.print(t)
}

type sound struct {
	opened  int // in the eyes of one instance or more
	out, of int // proxies at instances that rested, of all, once a second
}

func (w *world) sound(lasts time.Duration) (s sound) {
	last := map[int]time.Duration{}
	w.onMove = func(_ *node, index int, t breaker.Transition) {
		if t.From == breaker.Closed && t.To == breaker.Open {
			if at, before := last[index]; !before || w.now-at > 5*time.Second || w.apart {
				s.opened++
			}
			last[index] = w.now
		}
	}
	w.every(time.Second, func() {
		for _, n := range w.nodes {
			s.out += len(n.resting)
			s.of += len(w.proxies)
		}
	})
	w.pass(lasts)
	return s
}
