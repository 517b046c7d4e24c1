package attempts

import (
	"errors"
	"slices"
	"sync"
	"time"

	"swivel/pool"
)

// Exhausted is what happens to a request for which no proxy can be picked. The
// zero value is Reject.
type Exhausted uint8

// The choices.
const (
	Reject Exhausted = iota // 503 at once, saying when to come back
	Wait                    // for a proxy, as long as an exchange may take
	Direct                  // without a proxy: the target sees this machine's own address
)

var exhaustedNames = [...]string{"reject", "wait", "direct"}

// String returns the name that the configuration uses.
func (e Exhausted) String() string { return exhaustedNames[e] }

// MarshalText is the reverse of UnmarshalText.
func (e Exhausted) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads the name.
func (e *Exhausted) UnmarshalText(text []byte) error {
	for i, name := range exhaustedNames {
		if string(text) == name {
			*e = Exhausted(i)
			return nil
		}
	}
	return errors.New("want reject, wait or direct")
}

const (
	// maxWaiting bounds the exchanges that wait for a proxy. Those beyond it are
	// refused as if nobody could wait.
	maxWaiting = 1000
	// Waiting exchanges look by themselves too: a rest or a rate may be over
	// without anybody saying so. Not sooner than the first and not later than the
	// second.
	lookSoonest, lookLatest = 10 * time.Millisecond, 250 * time.Millisecond
)

// line is the exchanges that wait for a proxy, in the order they came. The first
// one is told when a proxy may have become free. It is safe for concurrent use;
// the zero value is empty.
type line struct {
	mu    sync.Mutex
	queue []chan struct{} // closed when its exchange is the first
}

// enter takes the last place; nil when there is none.
func (l *line) enter() (first chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) >= maxWaiting {
		return nil
	}
	first = make(chan struct{})
	if l.queue = append(l.queue, first); len(l.queue) == 1 {
		close(first)
	}
	return first
}

// leave gives the place up.
func (l *line) leave(place chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.queue, place)
	l.queue = slices.Delete(l.queue, i, i+1)
	if i == 0 && len(l.queue) > 0 {
		close(l.queue[0])
	}
}

// begin launches the first attempt, or whatever is to be done when nobody can be
// picked; false when nothing could be.
func (r *race[T]) begin() bool {
	if r.launch() {
		return true
	}
	switch r.x.loop.Settings.OnExhausted {
	case Wait:
		return r.await()
	case Direct:
		return r.direct()
	}
	return false
}

// await waits until a proxy can be picked. Who stands first is told; the others
// look now and then, since what they may have can be something else.
func (r *race[T]) await() bool {
	loop := r.x.loop
	deadline := time.Now().Add(loop.Settings.ExchangeTimeout)
	if r.inVain(deadline) {
		return false
	}
	place := loop.line.enter()
	if place == nil {
		return false
	}
	defer loop.line.leave(place)
	end := time.NewTimer(loop.Settings.ExchangeTimeout)
	defer end.Stop()
	first, freed := place, (<-chan struct{})(nil)
	for {
		again := lookLatest
		if freed != nil { // to ask all proxies is for one only: there may be many
			again = min(max(r.x.pool.RetryAfter(time.Now()), lookSoonest), lookLatest)
		}
		look := time.NewTimer(again)
		select {
		case <-first:
			first, freed = nil, loop.Pool.Freed()
		case <-freed:
		case <-look.C:
		case <-end.C:
			return false
		case <-r.life.Done(): // as in Run
			return false
		}
		look.Stop()
		if r.launch() {
			loop.Pool.Free() // there may be room for the next one too
			return true
		}
		if freed != nil && r.inVain(deadline) {
			return false
		}
	}
}

// inVain says that nobody can be picked before the deadline, however long the
// client waits.
func (r *race[T]) inVain(deadline time.Time) bool {
	now := time.Now()
	if _, unmatched := r.x.pool.Unmatched(); unmatched {
		return true
	}
	return r.x.pool.Hopeless(deadline.Sub(now), now)
}

// lastResort goes without a proxy when that is allowed and all proxies have been
// tried.
func (r *race[T]) lastResort() bool {
	return r.x.loop.Settings.OnExhausted == Direct && r.last.Spec.Scheme != pool.Direct && r.direct()
}

// direct makes the attempt without a proxy: where nobody is left to be tried, also
// beyond the number of attempts.
func (r *race[T]) direct() bool {
	if r.late || r.x.launched >= r.x.loop.Settings.Attempts && !r.x.pool.AllTried() {
		return false
	}
	r.start(r.x.pool.Direct(time.Now()))
	return true
}
