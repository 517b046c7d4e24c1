package simulate

import (
	"slices"
	"testing"
	"time"
)

// TestSimulationOfTests: dead proxies rest; how many tests of them are there in
// the whole fleet in each rest, whatever happens to instances and hub?
func TestSimulationOfTests(t *testing.T) {
	sizes, lasts := []int{3, 100, 1000}, 3*time.Minute
	if !*full {
		sizes = []int{3, 20}
	}
	a := newTable("Ten dead proxies are tested, for three minutes: rests that were over, tests, rests with more than one test, and how late tests were.",
		"instances", "what happens", "rests", "tests", "more than one", "late: median", "late: worst")
	for _, n := range sizes {
		for _, s := range stories {
			w := newWorld(setup{seed: 2, instances: n, rate: 2, proxies: make([]float64, 10), tries: 1, apart: s.apart, skew: s.skew, loss: s.loss})
			p := w.tests(s.tell, lasts)
			a.add(n, s.name, len(p.rests), len(p.lates), p.double(), p.late(.5), p.late(1))
			if !s.many && p.double() > 0 {
				t.Errorf("%d instances, %s: more than one test in %d of %d rests", n, s.name, p.double(), len(p.rests))
			}
			if p.late(1) > s.late {
				t.Errorf("%d instances, %s: a test was late by %v", n, s.name, p.late(1))
			}
		}
	}
	a.print(t)
}

// story is what happens to a fleet while proxies are dead.
type story struct {
	name  string
	late  time.Duration // a test may be
	many  bool          // more than one test in a rest is to be expected
	apart bool
	skew  time.Duration
	loss  float64
	tell  func(w *world) // nil: nothing
}

var stories = []story{
	{name: "nothing", late: 6 * time.Second},
	{name: "there is no fleet", late: 15 * time.Second, many: true, apart: true},
	{name: "who makes every fourth test dies", late: 15 * time.Second, many: true, tell: testersDie},
	{name: "one instance in a hundred dies each second", late: 12 * time.Second, tell: instancesDie},
	{name: "one answer in ten gets lost", late: 8 * time.Second, many: true, loss: 0.1},
	{name: "the hub is stuck for 1.5 s, every 10 s", late: 8 * time.Second, tell: hubIsStuck},
	{name: "the hub is away for 60 s, twice", late: 10 * time.Second, many: true, tell: hubGoesAway},
	{name: "the hub starts anew, empty, every 20 s", late: 6 * time.Second, many: true, tell: func(w *world) {
		w.every(20*time.Second, w.hub.restart)
	}},
	{name: "clocks are off by up to 5 s", late: 6 * time.Second, skew: 5 * time.Second},
}

func testersDie(w *world) {
	tests := 0
	w.onAttempt = func(n *node, _ int, probe, _ bool) {
		if probe {
			if tests++; tests%4 == 0 {
				w.replace(n)
			}
		}
	}
}

func instancesDie(w *world) {
	w.every(time.Second, func() {
		for _, n := range slices.Clone(w.nodes) {
			if w.random.IntN(100) == 0 {
				w.replace(n)
			}
		}
	})
}

func hubIsStuck(w *world) {
	w.every(10*time.Second, func() {
		w.hubAway = true
		w.after(1500*time.Millisecond, func() { w.hubAway = false })
	})
}

func hubGoesAway(w *world) {
	for _, at := range []time.Duration{20 * time.Second, 120 * time.Second} {
		w.after(at, func() { w.hubAway = true })
		w.after(at+time.Minute, func() { w.hubAway = false })
	}
}

// replace has an instance die and another one start in its place.
func (w *world) replace(n *node) {
	n.dead = true
	i := slices.Index(w.nodes, n)
	w.nodes[i] = w.start()
}

// tests are those of resting proxies.
type tests struct {
	rests map[rest]int // how many tests there were in each
	lates []time.Duration
}

// rest is one of one proxy, by the tenth of a second in which it was over.
type rest struct {
	proxy int
	until int64
}

// tests has the proxies die one after the other, and the story happen.
func (w *world) tests(tell func(w *world), lasts time.Duration) *tests {
	w.pass(5 * time.Second)
	for i := range w.proxies {
		w.proxies[i] = 1
		w.pass(4 * time.Second)
	}
	if tell != nil {
		tell(w)
	}
	p, then := &tests{rests: map[rest]int{}}, w.onAttempt
	w.onAttempt = func(n *node, i int, probe, fails bool) {
		if probe {
			s, _, _ := n.members[i].breaker.Standing(n.now())
			p.note(i, s.Until.Sub(start)-n.skew, w.now)
		}
		if then != nil {
			then(n, i, probe, fails)
		}
	}
	w.pass(lasts)
	return p
}

func (p *tests) note(proxy int, until, now time.Duration) {
	key := rest{proxy, int64((until + 50*time.Millisecond) / (100 * time.Millisecond))}
	for _, near := range []int64{-1, 1} {
		if p.rests[rest{proxy, key.until + near}] > 0 {
			key.until += near
			break
		}
	}
	p.rests[key]++
	p.lates = append(p.lates, now-until)
}

func (p *tests) double() (n int) {
	for _, tests := range p.rests {
		if tests > 1 {
			n++
		}
	}
	return n
}

// late is a quantile.
func (p *tests) late(q float64) time.Duration {
	slices.Sort(p.lates)
	return p.lates[int(q*float64(len(p.lates)-1))]
}
