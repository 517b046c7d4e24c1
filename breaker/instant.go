package breaker

import (
	"math"
	"time"
)

// instant is a point in time as nanoseconds since the origin. It is a third of
// the size of a time.Time, fits an atomic, and, being a difference of times with
// monotonic readings, does not move with the wall clock.
type instant int64

// origin is what instants count from. Any time with a monotonic reading would
// do: nothing is ever decided by it, and having one for all breakers saves them
// 24 bytes each.
var origin = time.Now()

func instantOf(now time.Time) instant { return instant(now.Sub(origin)) }

// never is the instant of what has not happened: before all others.
const never instant = math.MinInt64

// add returns the instant d later, or the last one there is. d must not be
// negative.
func (i instant) add(d time.Duration) instant {
	if sum := i + instant(d); sum >= i {
		return sum
	}
	return math.MaxInt64
}

// until returns the time from i to a later instant, 0 if it is not later.
func (i instant) until(later instant) time.Duration {
	if later <= i {
		return 0
	}
	if d := later - i; d > 0 {
		return time.Duration(d)
	}
	return math.MaxInt64
}

// moment is the present of one call, in both forms. Other instants are turned
// into times by their distance from it, so that they fit the wall clock as it is
// now and not as it was when the machine began.
type moment struct {
	now time.Time
	at  instant
}

func momentOf(now time.Time) moment { return moment{now: now, at: instantOf(now)} }

// time returns i with a monotonic reading, if now has one.
func (n moment) time(i instant) time.Time {
	return n.now.Add(time.Duration(i - n.at))
}

// wall returns i as it is stored: wall clock only, zero for never.
func (n moment) wall(i instant) time.Time {
	if i == never {
		return time.Time{}
	}
	return n.time(i).Round(0)
}

// past returns the instant of a stored time that cannot lie in the future: the
// clock was set back if it seems to.
func (n moment) past(t time.Time) instant {
	if t.IsZero() {
		return never
	}
	d := n.ahead(t)
	if d == math.MinInt64 { // Sub's answer to a distance it cannot express
		return never
	}
	return n.at + instant(min(d, 0))
}

// ahead returns how far a stored time lies in the future, by the wall clock:
// its monotonic reading, if it has one, is of another process.
func (n moment) ahead(t time.Time) time.Duration {
	return t.Round(0).Sub(n.now.Round(0))
}
