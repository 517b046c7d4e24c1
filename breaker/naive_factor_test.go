package breaker_test

import (
	"time"

	"swivel/breaker"
)

// naiveShown is what the last call published for those who take no lock.
type naiveShown struct {
	naiveTrack
	at     time.Time
	state  breaker.State
	closed time.Time
}

func (n *naive) show(now time.Time) {
	n.shown = naiveShown{naiveTrack: n.naiveTrack, at: now, state: n.state, closed: n.changed}
}

func (n *naive) factor(now time.Time) float64 {
	ramp := 1.0
	switch since := now.Sub(n.shown.closed); {
	case n.shown.state != breaker.Closed:
		ramp = 0.1
	case !n.shown.closed.IsZero() && since < n.s.SlowStart:
		ramp = 0.1 + 0.9*since.Seconds()/n.s.SlowStart.Seconds()
	}
	return ramp * n.health(now)
}

func (n *naive) health(now time.Time) float64 {
	if !n.shown.proven {
		switch {
		case n.shown.misses == 0:
			return 1
		case n.shown.misses == 1:
			return 0.3
		case n.shown.misses == 2:
			return 0.1
		}
		return 0.03
	}
	last := newest(n.shown.outcomes, 5)
	failures, total := failuresOf(last), 5
	if in := n.inWindow(n.shown.outcomes, n.shown.at); len(in) > 5 && len(n.inWindow(n.shown.outcomes, now)) > 5 {
		failures, total = failuresOf(in), len(in)
	}
	ratio := 1 - float64(failures)/float64(total)
	if ratio >= 0.9 {
		return 1
	}
	return max(ratio, 0.1)
}
