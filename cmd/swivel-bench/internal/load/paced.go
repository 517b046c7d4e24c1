package load

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Tally counts what a paced load does; it may be read meanwhile. Zero: nothing
// was done yet.
type Tally struct {
	Done    atomic.Int64
	Failed  atomic.Int64
	Skipped atomic.Int64 // were due while the machine was too slow, and were left out

	mu    sync.Mutex
	first error
}

// Add counts one operation.
func (t *Tally) Add(err error) {
	if err == nil {
		t.Done.Add(1)
		return
	}
	t.Failed.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.first = cmp.Or(t.first, err)
}

// First is the error of the first operation that failed.
func (t *Tally) First() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.first
}

// maxLate is how far a client may fall behind before it leaves operations out: a
// pause of the machine must not become a burst.
const maxLate = time.Second

// Paced makes rate operations a second, each client those that are its turn,
// until ctx ends.
func (c *Crowd) Paced(ctx context.Context, rate float64, tally *Tally) {
	period := time.Duration(float64(len(c.clients)) / rate * float64(time.Second))
	began := time.Now()
	var running sync.WaitGroup
	for i, client := range c.clients {
		first := began.Add(period * time.Duration(i) / time.Duration(len(c.clients)))
		running.Go(func() { c.pace(ctx, client, first, max(period, 1), tally) })
	}
	running.Wait()
}

// pace is one client, whose operations are due at first and then every period.
func (c *Crowd) pace(ctx context.Context, client *Client, first time.Time, period time.Duration, tally *Tally) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for due := first; ; due = due.Add(period) {
		if late := time.Since(due); late > maxLate {
			skipped := late / period
			due = due.Add(skipped * period)
			tally.Skipped.Add(int64(skipped))
		}
		timer.Reset(time.Until(due))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		err := c.do(ctx, client)
		if err != nil {
			client.Close()
		}
		tally.Add(err)
	}
}
