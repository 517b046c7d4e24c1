package breaker

import (
	"slices"
	"time"
)

// maxKin is how many failures of others are kept, and how many own ones are kept
// for them. A run of more is found only where one instance sees it alone.
const maxKin = 64

// kin is what a breaker knows of the breakers that others have for the same
// proxy, and what they do not know yet of this one's. Only a proxy that somebody
// has something against needs one.
type kin struct {
	failures []instant // of the run, those that others saw, oldest first
	window   window    // outcomes that others saw

	untoldFailures []instant // own ones since the last Share
	untold         tally     // own outcomes since the last Share
	untoldWindow   []Tally   // those before that are told too, after the first Share
}

// Others is what other breakers of the same proxy saw of it since its last change
// of state. The zero value is nothing. It replaces what was known before, so that
// learning it twice changes nothing.
type Others struct {
	Failures    []time.Time // those of a run, in any order
	LastSuccess time.Time   // anybody's, zero if there was none
	Window      []Tally     // outcomes, as those of a Snapshot
	Succeeded   bool        // it has succeeded, ever
}

// Learn takes what others saw. Their failures count as if they had happened here,
// for runs and for rates, and a success of theirs ends what there is of a run. It
// opens the breaker if that is enough; alone has the meaning of Verdict.Alone.
//
// A breaker that is not closed learns nothing but that the proxy has succeeded.
func (b *Breaker) Learn(o Others, alone bool, now time.Time) Effect {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, e := b.m.begin(now)
	b.m.learn(o, alone, n, &e)
	b.publish(n)
	return e
}

func (m *machine) learn(o Others, alone bool, n moment, e *Effect) {
	if o.Succeeded && m.record.prove() {
		e.Changed = true
	}
	if m.state != Closed {
		return
	}
	if at := n.past(o.LastSuccess); at > m.proved {
		m.proved = at
		e.Changed = m.run.endAt(at) || e.Changed
	}
	if m.kin == nil {
		if len(o.Failures) == 0 && len(o.Window) == 0 {
			return
		}
		m.acquaint(n)
	}
	if m.kin.replace(o, max(m.proved, m.since), m.settings.Value(), n) {
		m.judgeRun(alone, n, e)
	}
}

// acquaint makes room for what others see, and has what was seen here so far told
// to them.
func (m *machine) acquaint(n moment) {
	s := m.settings.Value()
	m.kin = &kin{window: newWindow(s.Window), untoldFailures: slices.Clone(m.run.failures)}
	if s.Outcomes == 0 {
		own := m.window
		m.kin.untoldWindow = own.stored(n)
	}
}

// replace takes over what others saw after an instant, and reports whether there
// is a failure that was not known.
func (k *kin) replace(o Others, after instant, s Settings, n moment) (more bool) {
	newest, failed := k.newest(), k.window.at(n.at).failures
	k.failures = k.failures[:0]
	for _, t := range o.Failures {
		if at := n.past(t); at > after && !aged(at, n.at, s.RunWindow) {
			k.failures = append(k.failures, at)
		}
	}
	slices.Sort(k.failures)
	k.failures = k.failures[max(0, len(k.failures)-maxKin):]
	k.window = newWindow(s.Window)
	if s.Outcomes == 0 {
		k.window.recall(o.Window, n)
	}
	return k.newest() > newest || k.window.at(n.at).failures > failed
}

func (k *kin) newest() instant {
	if len(k.failures) == 0 {
		return never
	}
	return k.failures[len(k.failures)-1]
}

// length is how many failures of others belong to the run now.
func (k *kin) length(at instant, window time.Duration) int {
	if k == nil {
		return 0
	}
	n := 0
	for _, t := range k.failures {
		if !aged(t, at, window) {
			n++
		}
	}
	return n
}

// held is what others saw within the window.
func (k *kin) held(at instant) tally {
	if k == nil {
		return tally{}
	}
	w := k.window // turned in a copy: a copy of the machine shares k
	return w.at(at)
}

// count keeps an own outcome to be told.
func (k *kin) count(failed bool, at instant) {
	if k == nil {
		return
	}
	k.untold.add(failed)
	if failed {
		if len(k.untoldFailures) == maxKin {
			k.untoldFailures = slices.Delete(k.untoldFailures, 0, 1)
		}
		k.untoldFailures = append(k.untoldFailures, at)
	}
}

// clear ends the run that others saw, and reports whether there was one.
func (k *kin) clear() bool {
	if k == nil || len(k.failures) == 0 {
		return false
	}
	k.failures = k.failures[:0]
	return true
}

// endAt ends the part of a run that is not newer than a success elsewhere, and
// reports whether there was any.
func (r *run) endAt(success instant) bool {
	before := len(r.failures) + int(r.suspicions)
	r.failures = slices.DeleteFunc(r.failures, func(t instant) bool { return t <= success })
	r.suspicions = 0
	if len(r.failures) < before {
		r.older = 0
	}
	return len(r.failures) < before
}
