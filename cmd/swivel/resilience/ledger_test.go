package resilience

import (
	"sync"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// fate is what became of an attempt, as its upstream saw it.
type fate uint8

const (
	failed fate = iota
	unused      // a tunnel was opened and then asked for nothing: an extra handshake
	served
)

// visit is one attempt: a connection to an upstream.
type visit struct {
	upstream string
	target   string // empty when the CONNECT never came
	at       time.Time
	fate     fate
}

// ledger holds all visits. It is safe for concurrent use.
type ledger struct {
	mu     sync.Mutex
	visits []*visit
}

// enter begins a visit, which has failed as long as nobody says otherwise.
func (l *ledger) enter(upstream string) *visit {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := &visit{upstream: upstream, at: time.Now()}
	l.visits = append(l.visits, v)
	return v
}

func (l *ledger) target(v *visit, target string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v.target = target
}

func (l *ledger) note(v *visit, f fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v.fate = f
}

// refused enters the attempts that found a port closed. Nobody is there to see
// them but the daemon, so they are taken from its log; that of a daemon that
// was killed holds all exchanges that had ended. The end of the exchange is a
// little late for the attempt: none is taken to be in a rest that was over.
func (l *ledger) refused(lines []swiveltest.Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range lines {
		for _, a := range line.Attempts {
			if a.Signal == "dial_refused" {
				l.visits = append(l.visits, &visit{upstream: a.Name, target: line.Target, at: line.Time})
			}
		}
	}
}

// all returns a copy.
func (l *ledger) all() []visit {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]visit, len(l.visits))
	for i, v := range l.visits {
		out[i] = *v
	}
	return out
}
