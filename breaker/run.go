package breaker

import (
	"math"
	"slices"
	"time"
)

// run is what a closed breaker remembers of the failures and the suspicions
// since the last success. They are counted apart, since a suspicion may be the
// target's fault and must not make up for a missing failure.
type run struct {
	failures   []instant // the newest, oldest first; nil before the first
	older      int32     // failures before those
	suspicions int32
}

// fail adds a failure, if there is to be room for any, and drops those too old
// to belong to the same run. Those whose times are not kept stay as long as all
// do that came after them: on a proxy busy enough to need so long a run they are
// moments apart.
//
// The first failure makes the room, which is that of the run that opens a proxy
// of little traffic. Most of a large pool never need it.
func (r *run) fail(at instant, window time.Duration, room int) {
	if room == 0 {
		return
	}
	if r.failures == nil {
		r.failures = make([]instant, 0, room)
	}
	known := len(r.failures)
	r.failures = slices.DeleteFunc(r.failures, func(t instant) bool { return aged(t, at, window) })
	if len(r.failures) < known {
		r.older = 0
	}
	if len(r.failures) == room {
		r.failures = slices.Delete(r.failures, 0, 1)
		r.older++
	}
	r.failures = append(r.failures, at)
}

func (r *run) length() int { return int(r.older) + len(r.failures) }

// clear ends the run and reports whether there was one.
func (r *run) clear() bool {
	was := len(r.failures) > 0 || r.suspicions > 0
	*r = run{failures: r.failures[:0]}
	return was
}

// aged reports whether a failure at t is too old to count now. Proxies of a
// large pool are used rarely: the window is long on purpose.
func aged(t, now instant, window time.Duration) bool {
	return t.add(window) < now
}

// chance is the probability that we accept of opening a proxy that only fails
// now and then, for each window of its outcomes.
const chance = 0.001

// tooLong reports whether length failures, or suspicions, in a row are more
// than the bad luck of a proxy whose window, with run failures in a row, is t.
//
// A busy proxy that always fails a little has five failures in a row every few
// seconds. Of n outcomes that fail with probability q about n·q^k begin a run
// of k, and q is best guessed as (f+1)/(n+2) where f of n failed: so k has to be
// ln(chance/n) / ln(q). A q near 1 asks for an endless run. That is the business
// of the rate rule; besides, n shrinks as the run fills the window.
func (s Settings) tooLong(length, run int, t tally) bool {
	if s.ConsecutiveFailures == 0 || length < s.ConsecutiveFailures {
		return false
	}
	n := max(0, int(t.total)-run) // the newest of the window are the run
	f := max(0, int(t.failures)-run)
	if n < s.MinSamples {
		return true
	}
	q := float64(f+1) / float64(n+2)
	return float64(length) >= math.Ceil(math.Log(chance/float64(n))/math.Log(q))
}
