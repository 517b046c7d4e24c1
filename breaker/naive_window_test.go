package breaker_test

import (
	"time"

	"swivel/breaker"
)

// naiveOutcome is one outcome in the window of the reference, which keeps every
// one of them.
type naiveOutcome struct {
	part   time.Time // beginning of the part of the window that it belongs to
	failed bool
}

// naiveTrack is what the reference knows of the outcomes since the breaker last
// closed, and of the proxy's life.
type naiveTrack struct {
	outcomes []naiveOutcome
	proven   bool
	misses   int // failures before the first success, all of them
}

func (n *naive) width() time.Duration { return n.s.Window / 12 }

func (n *naive) count(failed bool, now time.Time) {
	part := now
	if in := n.timely(n.outcomes, now); len(in) > 0 {
		part = in[len(in)-1].part
		for !now.Before(part.Add(n.width())) {
			part = part.Add(n.width())
		}
	}
	n.outcomes = append(n.outcomes, naiveOutcome{part, failed})
}

// timely are the outcomes in a window of time.
func (n *naive) timely(outcomes []naiveOutcome, now time.Time) []naiveOutcome {
	var in []naiveOutcome
	for _, o := range outcomes {
		if now.Before(o.part.Add(12 * n.width())) {
			in = append(in, o)
		}
	}
	return in
}

func (n *naive) inWindow(outcomes []naiveOutcome, now time.Time) []naiveOutcome {
	if n.s.Outcomes > 0 {
		return newest(outcomes, n.s.Outcomes)
	}
	return n.timely(outcomes, now)
}

// rate of failures in the window, and how many outcomes it is of.
func (n *naive) rate(now time.Time) (float64, int) {
	in := n.inWindow(n.outcomes, now)
	if len(in) == 0 {
		return 0, 0
	}
	return float64(failuresOf(in)) / float64(len(in)), len(in)
}

func (n *naive) tallies(now time.Time) []breaker.Tally {
	if n.s.Outcomes > 0 {
		return nil
	}
	var tallies []breaker.Tally
	for _, o := range n.timely(n.outcomes, now) {
		if len(tallies) == 0 || !tallies[len(tallies)-1].At.Equal(o.part) {
			tallies = append(tallies, breaker.Tally{At: o.part})
		}
		if o.failed {
			tallies[len(tallies)-1].Failures++
		} else {
			tallies[len(tallies)-1].Successes++
		}
	}
	return tallies
}

func (n *naive) recent() string {
	var signs string
	for _, o := range newest(n.outcomes, max(5, n.s.Outcomes)) {
		if o.failed {
			signs += "-"
		} else {
			signs += "+"
		}
	}
	return signs
}

// restartWindow keeps what was stored: the order of the newest outcomes, and
// the parts of the window that still count. Zero is a part too old to count.
func (n *naive) restartWindow(stored, now time.Time) {
	n.outcomes = newest(n.outcomes, max(5, n.s.Outcomes, len(n.timely(n.outcomes, stored))))
	var grid time.Time
	for i, o := range n.outcomes {
		if stored.Before(o.part.Add(12 * n.width())) {
			grid = earlier(o.part, now)
			n.outcomes[i].part = grid
		} else {
			n.outcomes[i].part = time.Time{}
		}
	}
	for i, o := range n.outcomes {
		n.outcomes[i].part = time.Time{}
		if now.Before(o.part.Add(12 * n.width())) {
			n.outcomes[i].part = grid.Add(-(grid.Sub(o.part) / n.width() * n.width()))
		}
	}
}

func failuresOf(outcomes []naiveOutcome) (failures int) {
	for _, o := range outcomes {
		if o.failed {
			failures++
		}
	}
	return failures
}

// newest returns a copy of the last n, or of all.
func newest[T any](all []T, n int) []T {
	return append([]T(nil), all[max(0, len(all)-n):]...)
}
