package faults

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// load is clients that open tunnels one after the other.
type load struct {
	stop    chan struct{}
	running sync.WaitGroup
	good    atomic.Int64

	mu     sync.Mutex
	faults []fault
}

// fault is a visit that failed.
type fault struct {
	at  time.Time // when that was known
	err error
}

// startLoad begins with so many at once; visit is done again and again, and gets
// the number of its client and of its turn.
func startLoad(clients int, visit func(client, turn int) error) *load {
	l := &load{stop: make(chan struct{})}
	for c := range clients {
		l.running.Go(func() {
			for turn := 0; ; turn++ {
				select {
				case <-l.stop:
					return
				case <-time.After(time.Millisecond): // the daemon is to live, not to be measured
				}
				l.note(visit(c, turn))
			}
		})
	}
	return l
}

// tunnels is a load of visits to many targets.
func tunnels(clients int, c client) *load {
	return startLoad(clients, func(n, turn int) error {
		_, err := c.visit(fmt.Sprintf("t%d-%d.test:443", n, turn%50))
		return err
	})
}

func (l *load) note(err error) {
	if err == nil {
		l.good.Add(1)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fault{time.Now(), err})
}

// end stops the load, and fails the test for each fault before a time. It
// returns how many visits were good.
func (l *load) end(t *testing.T, before time.Time) int64 {
	t.Helper()
	close(l.stop)
	l.running.Wait()
	for _, f := range l.faults {
		if f.at.Before(before) {
			t.Errorf("a client was hurt: %v", f.err)
		}
	}
	return l.good.Load()
}
