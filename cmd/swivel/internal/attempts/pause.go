package attempts

import (
	"math/rand/v2"
	"time"
)

// The pause before a proxy is asked again that has just failed: a gateway that
// resets everything for a moment gets one, and is not asked five times within two
// milliseconds. It doubles with each attempt.
const (
	firstPause = 20 * time.Millisecond
	mostPause  = 160 * time.Millisecond
)

// pauseAfter is the pause after so many attempts: half as long as usual to one and
// a half times, so that clients which failed together do not come back together.
func pauseAfter(attempts int) time.Duration {
	d := mostPause
	if n := max(attempts, 1) - 1; n < 3 {
		d = firstPause << n
	}
	return d/2 + rand.N(d)
}

// pause waits for a moment if the only one left to be asked has failed already. If
// the end that the attempts have comes before, nothing more is tried. It is false
// when the client has left meanwhile. Nothing is to be on the way.
func (r *race[T]) pause(end time.Time) bool {
	x, now := r.x, time.Now()
	if r.late || x.launched >= x.loop.Settings.Attempts || !x.pool.Again(now) {
		return true
	}
	d := pauseAfter(x.launched)
	if !end.IsZero() && d >= end.Sub(now) {
		r.late = true
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.life.Done():
		return false
	}
}
