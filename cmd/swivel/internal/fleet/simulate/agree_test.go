package simulate

import (
	"testing"
	"time"

	"swivel/breaker"
)

// TestSimulationOfDisturbances: whatever happens, all instances agree in the end,
// no sound proxy rests for what happened to clocks or hub, and a proxy rests for no
// longer than it would at one instance.
func TestSimulationOfDisturbances(t *testing.T) {
	n, lasts := 100, 4*time.Minute
	if !*full {
		n, lasts = 20, 90*time.Second
	}
	a := newTable("Twenty proxies: ten are sound, five dead, five flap (dead for 20 s, well for 40 s).",
		"instances", "what happens", "sound ones rested", "dead ones in use", "flapping: in use while dead", "rested while well", "until all agree", "longest rest")
	for _, s := range append(disturbances, story{name: "there is no fleet", apart: true}, story{name: alone, apart: true}) {
		instances, rate := n, 2.
		if s.name == alone {
			instances, rate = 1, 2*float64(n)
		}
		w := newWorld(setup{seed: 5, instances: instances, rate: rate, proxies: make([]float64, 20), apart: s.apart, skew: s.skew, loss: s.loss})
		d := w.disturb(s.tell, lasts)
		a.add(instances, s.name, percent(d.sound.part, d.sound.of), percent(d.dead.part, d.dead.of), percent(d.down.part, d.down.of), percent(d.well.part, d.well.of), d.agreed, d.longest)
		if d.sound.part > 0 {
			t.Errorf("%s: sound proxies rested", s.name)
		}
		if most := breaker.DefaultSettings().MaxOpenTimeout * 11 / 10; d.longest > most {
			t.Errorf("%s: a rest of %v", s.name, d.longest)
		}
		if d.agreed > 5*time.Second && !s.apart {
			t.Errorf("%s: they do not agree", s.name)
		}
	}
	a.print(t)
}

var disturbances = []story{
	{name: "nothing"},
	{name: "clocks are off by up to 5 s", skew: 5 * time.Second},
	{name: "clocks are off, answers get lost", skew: 5 * time.Second, loss: 0.1},
	{name: "the hub starts anew, empty, every 20 s", tell: hubStartsAnew},
	{name: "the hub is away for 60 s", tell: hubGoesAway},
	{name: "one instance in a hundred dies each second", tell: instancesDie},
}

const alone = "one instance has all of the traffic"

func hubStartsAnew(w *world) { w.every(20*time.Second, w.hub.restart) }

// ratio is a part of observations.
type ratio struct{ part, of int }

func (r *ratio) note(in bool) {
	r.of++
	if in {
		r.part++
	}
}

// disturbed is what came of it; each second each proxy at each instance is looked at.
type disturbed struct {
	sound, dead, down, well ratio
	longest                 time.Duration
	agreed                  time.Duration // how long after the end of all disturbance, a minute if never
}

func (w *world) disturb(tell func(w *world), lasts time.Duration) (d disturbed) {
	w.pass(5 * time.Second)
	for i := 10; i < 15; i++ {
		w.proxies[i] = 1
	}
	for i := 15; i < 20; i++ {
		w.after(time.Duration(i)*3*time.Second, func() { w.flap(i) })
	}
	w.pass(70 * time.Second)
	if tell != nil {
		tell(w)
	}
	w.onMove = func(_ *node, _ int, t breaker.Transition) {
		if t.To == breaker.Open {
			d.longest = max(d.longest, t.Until.Sub(t.At))
		}
	}
	for end := w.now + lasts; w.now < end; w.pass(time.Second) {
		w.look(&d)
	}
	w.loss, w.hubAway, w.proxies = 0, false, make([]float64, 20)
	d.agreed, _ = w.passUntil(func() bool { return w.differ() == 0 }, 100*time.Millisecond, time.Minute)
	return d
}

// flap has a proxy be dead for a third of each minute.
func (w *world) flap(i int) {
	w.every(time.Minute, func() {
		w.proxies[i] = 1
		w.after(20*time.Second, func() { w.proxies[i] = 0 })
	})
}

func (w *world) look(d *disturbed) {
	for _, n := range w.nodes {
		for i := range w.proxies {
			m := n.members[i]
			rests := m != nil && m.breaker.Resting()
			switch {
			case i < 10:
				d.sound.note(rests)
			case i < 15:
				d.dead.note(!rests)
			case w.proxies[i] == 1:
				d.down.note(!rests)
			default:
				d.well.note(rests)
			}
		}
	}
}

// differ counts the proxies that not all instances have in use, or not all resting.
func (w *world) differ() (n int) {
	for i := range w.proxies {
		var seen [2]bool
		for _, one := range w.nodes {
			if m := one.members[i]; m != nil && m.breaker.Resting() {
				seen[1] = true
			} else {
				seen[0] = true
			}
		}
		if seen[0] && seen[1] {
			n++
		}
	}
	return n
}
