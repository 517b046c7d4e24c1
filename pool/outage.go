package pool

import (
	"sync"
	"sync/atomic"
	"time"
)

// The local outage guard. When proxies that worked a moment ago all fail at
// once and nothing at all succeeds, it is likely our own network that is down:
// opening every breaker for it would leave an empty pool when it comes back.
const (
	workedWithin = 5 * time.Minute  // who counts as working
	failedWithin = 10 * time.Second // how close together they have to fail
	outageProof  = 5                // how many are enough
)

// Outage is a change of the guard.
type Outage uint8

// The changes.
const (
	NoOutage      Outage = iota
	OutageBegan          // failures are ignored, one exchange a second tries
	OutageEnded          // something succeeded
	OutageGivenUp        // nothing succeeded for a whole window: the pool really is dead
)

// outage is the guard. It is safe for concurrent use; its zero value, with
// window set, guards.
type outage struct {
	window time.Duration // after this long without a success failures count again

	// watching is set when there is something to forget on a success, so that a
	// success costs one atomic load otherwise.
	watching atomic.Bool
	on       atomic.Bool

	ended atomic.Int64 // unix nanoseconds: the end of the last one

	mu      sync.Mutex
	failed  []failedProxy // working proxies that failed since the last success
	since   time.Time
	lastTry time.Time
	spent   bool // given up: not again before a success
}

type failedProxy struct {
	proxy   *runtime
	at      time.Time
	request string
}

// LocalOutage says whether the guard takes the failures for this machine's own.
func (p *Pool) LocalOutage() bool { return p.outage.on.Load() }

// covers says whether a failure now, of an attempt that began then, is to be
// ignored: what began in an outage may still fail when it is over.
func (o *outage) covers(began time.Time) bool {
	ended := o.ended.Load()
	return o.on.Load() || ended != 0 && began.UnixNano() < ended
}

// success ends an outage, and the suspicion of one.
func (o *outage) success(now time.Time) Outage {
	if !o.watching.Load() {
		return NoOutage
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.watching.Store(false)
	o.failed, o.spent = o.failed[:0], false
	if !o.on.Swap(false) {
		return NoOutage
	}
	o.ended.Store(now.UnixNano())
	return OutageEnded
}

// failure takes note of a proxy's failure. working counts the proxies that
// worked lately, up to a limit.
func (o *outage) failure(r *runtime, request string, now time.Time, working func(limit int) int) Outage {
	if !r.workedLately(now) {
		return NoOutage
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.watching.Store(true)
	if o.spent || o.on.Load() {
		return NoOutage
	}
	o.noteFailure(failedProxy{r, now, request})
	n := len(o.failed)
	if n < 2 || o.oneRequest() || n < outageProof && working(n+1) > n {
		return NoOutage
	}
	o.on.Store(true)
	o.since, o.lastTry = now, now
	return OutageBegan
}

func (o *outage) noteFailure(one failedProxy) {
	kept := o.failed[:0]
	for _, f := range o.failed {
		if f.proxy != one.proxy && one.at.Sub(f.at) < failedWithin {
			kept = append(kept, f)
		}
	}
	o.failed = append(kept, one)
}

// oneRequest says whether a single request ran into all of the failures: that
// may be bad luck with the proxies of one provider.
func (o *outage) oneRequest() bool {
	for _, f := range o.failed {
		if f.request != o.failed[0].request {
			return false
		}
	}
	return true
}

// admit says whether an exchange may try during an outage: one a second may. It
// also gives the outage up when nothing has succeeded for too long.
func (o *outage) admit(now time.Time) (bool, Outage) {
	if !o.on.Load() {
		return true, NoOutage
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !o.on.Load():
		return true, NoOutage
	case now.Sub(o.since) >= o.window:
		o.on.Store(false)
		o.spent = true
		return true, OutageGivenUp
	case now.Sub(o.lastTry) >= time.Second:
		o.lastTry = now
		return true, NoOutage
	}
	return false, NoOutage
}
