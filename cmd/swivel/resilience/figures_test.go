package resilience

import (
	"slices"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// figures is everything that was counted.
type figures struct {
	*run
	samples []sample // without those that the kill cut off
	visits  []visit
	changes []swiveltest.Line // of breakers
	cut     int               // exchanges that fell into the restart
}

// leaveOutTheRestart takes out what no proxy daemon could have served: exchanges
// under way when it was killed, and those due before the next one was ready.
func (f *figures) leaveOutTheRestart() {
	f.samples = slices.DeleteFunc(f.samples, func(s sample) bool {
		hit := s.at.Before(f.restart.ready) && s.ended().After(f.restart.killed)
		if hit {
			f.cut++
		}
		return hit
	})
}

func (f *figures) phase(name string) *phase {
	for _, p := range f.phases {
		if p.name == name {
			return p
		}
	}
	return nil
}

// findServed looks when each of the recovered first served.
func (f *figures) findServed() {
	for i := range f.recoveries {
		r := &f.recoveries[i]
		for _, v := range f.visits {
			if v.upstream == r.name && v.fate == served && v.at.After(r.at) && (r.served.IsZero() || v.at.Before(r.served)) {
				r.served = v.at
			}
		}
	}
}

// duringRests counts the attempts after the restart on proxies within the rest
// that they had left at the kill.
func (f *figures) duringRests() (n int) {
	for _, v := range f.visits {
		if v.at.After(f.restart.killed) && v.at.Before(f.restart.restsUntil[v.upstream]) {
			n++
		}
	}
	return n
}

// remaining are the rests that went on after the restart.
func (f *figures) remaining() (rests []time.Duration) {
	for _, until := range f.restart.restsUntil {
		if left := until.Sub(f.restart.ready); left > 0 {
			rests = append(rests, left.Round(100*time.Millisecond))
		}
	}
	slices.Sort(rests)
	return rests
}

// lateness is how late the generator was, sorted.
func (f *figures) lateness() (late []time.Duration) {
	for _, s := range f.samples {
		late = append(late, s.late)
	}
	slices.Sort(late)
	return late
}

// afterLearning is how long all good exchanges after the first phase took,
// sorted.
func (f *figures) afterLearning() (took []time.Duration) {
	for _, p := range f.phases[1:] {
		took = append(took, p.took...)
	}
	slices.Sort(took)
	return took
}

// probing is how long exchanges after the first phase, that carried the test of
// a resting proxy, waited for their tunnel; sorted. Those are left out that met
// another bad proxy as well, which nobody knew to be bad.
func (f *figures) probing() (opened []time.Duration) {
	for _, l := range f.lines {
		if l.Message == "exchange" && l.Status == 200 && l.Began().After(f.phases[0].end) && onlyProbeIsBad(l) {
			opened = append(opened, l.Opened.Duration())
		}
	}
	slices.Sort(opened)
	return opened
}

// extra is how many more handshakes than exchanges there were after the first
// phase, in percent: tunnels that another one overtook.
func (f *figures) extra() float64 {
	unused, exchanges := 0, 0
	for _, p := range f.phases[1:] {
		unused, exchanges = unused+p.unused, exchanges+p.exchanges
	}
	return percent(unused, exchanges)
}

// deadTargetFigures are those of the exchanges for the dead target.
type deadTargetFigures struct {
	learnt time.Duration   // from the first exchange to the first answer from memory
	known  []time.Duration // how long answers from memory took, sorted
	trials []time.Duration // how long the others took: some go to look whether it is still down
	served int             // must be none
}

func (f *figures) deadTargetFigures() (d deadTargetFigures) {
	var first time.Time
	for _, s := range f.samples {
		if s.target != deadTarget {
			continue
		}
		if first.IsZero() {
			first = s.at
		}
		switch {
		case s.err == nil:
			d.served++
		case s.code == "target_down":
			if len(d.known) == 0 {
				d.learnt = s.at.Sub(first)
			}
			d.known = append(d.known, s.took)
		default:
			d.trials = append(d.trials, s.took)
		}
	}
	slices.Sort(d.known)
	slices.Sort(d.trials)
	return d
}
