package breaker

import (
	"slices"
	"time"
)

// run is what a closed breaker remembers: the failures and the suspicions since
// the last success. They are counted apart, since a suspicion may be the
// target's fault and must not make up for a missing failure.
type run struct {
	failures   []instant // oldest first; its capacity is the longest run there can be
	suspicions int
}

// newRun makes room for the whole run, so that counting never allocates.
func newRun(longest int) run {
	return run{failures: make([]instant, 0, longest)}
}

// fail adds a failure and drops those too old to belong to the same run.
func (r *run) fail(at instant, window time.Duration) {
	r.failures = slices.DeleteFunc(r.failures, func(t instant) bool { return aged(t, at, window) })
	r.failures = append(r.failures, at)
}

// clear ends the run and reports whether there was one.
func (r *run) clear() bool {
	was := len(r.failures) > 0 || r.suspicions > 0
	r.failures, r.suspicions = r.failures[:0], 0
	return was
}

// aged reports whether a failure at t is too old to count now. Proxies of a
// large pool are used rarely: the window is long on purpose.
func aged(t, now instant, window time.Duration) bool {
	return t.add(window) < now
}

// judgeClosed takes the result of an ordinary attempt.
func (m *machine) judgeClosed(v Verdict, n moment, e *Effect) {
	switch v.Outcome {
	case Success:
		e.Changed = m.run.clear()
	case Failure:
		e.Changed = true
		m.run.fail(n.at, m.settings.RunWindow)
		if len(m.run.failures) >= m.settings.ConsecutiveFailures {
			m.trip(RuleRun, n, e)
		}
	case Refused, Throttled:
		m.obey(v, n, e)
	}
}

// suspectClosed takes an ordinary attempt that stayed ambiguous.
func (m *machine) suspectClosed(n moment, e *Effect) {
	e.Changed = true
	m.run.suspicions++
	if m.run.suspicions >= m.settings.ConsecutiveFailures {
		m.trip(RuleRun, n, e)
	}
}
