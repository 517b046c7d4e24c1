package soak

import (
	"sync"
	"time"
)

// ledger is where upstreams write down what they do on purpose, so that of a
// client's error it can be said whether it had to be. Every exchange has a target
// of its own, by which both sides know it. It is safe for concurrent use.
type ledger struct {
	mu      sync.Mutex
	harms   map[string]harm
	waiting map[string]chan struct{} // closed when an upstream is asked for the target
}

// harm is what was done to a target's connection, or to its last one.
type harm struct {
	what  string
	at    time.Time
	final bool // no other attempt makes it good
}

// forgotten is how old a harm becomes that no client asks for: it was made good
// by another upstream.
const forgotten = 2 * time.Minute

func newLedger() *ledger {
	return &ledger{harms: map[string]harm{}, waiting: map[string]chan struct{}{}}
}

// harmed notes what is about to be done. It is final for a tunnel that was
// granted: clear text in it is not sent again.
func (l *ledger) harmed(target, what string, final bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.harms[target] = harm{what, time.Now(), final}
}

// take says what was done to a target, "" if nothing, and forgets it.
func (l *ledger) take(target string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	what := l.harms[target].what
	delete(l.harms, target)
	return what
}

// await returns what is closed when some upstream is asked for the target.
func (l *ledger) await(target string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked := make(chan struct{})
	l.waiting[target] = asked
	return asked
}

// asked tells who waits for it that an upstream is asked for the target. What
// others did before is made good by that, if it can be.
func (l *ledger) asked(target string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.harms[target].final {
		delete(l.harms, target)
	}
	if waits, ok := l.waiting[target]; ok {
		close(waits)
		delete(l.waiting, target)
	}
}

// tidy forgets what nobody asks for any more.
func (l *ledger) tidy(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for target, h := range l.harms {
		if now.Sub(h.at) > forgotten {
			delete(l.harms, target)
		}
	}
}
