package load

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// maxFailures is how many operations of a run may fail before it is given up: a
// proxy that serves nobody must not take patience for each.
const maxFailures = 10

// Crowd is a number of clients that stay the same over several runs.
type Crowd struct {
	clients []*Client
	do      func(context.Context, *Client) error
}

// NewCrowd makes n clients of the proxy that all do the same.
func NewCrowd(n int, proxy string, do func(context.Context, *Client) error) *Crowd {
	c := &Crowd{do: do}
	for range n {
		c.clients = append(c.clients, NewClient(proxy))
	}
	return c
}

// Close ends all connections.
func (c *Crowd) Close() {
	for _, client := range c.clients {
		client.Close()
	}
}

// Run makes n operations, each client one after the other, and returns how long
// those took that did not fail. More than a few failures are an error, with the
// first of them.
func (c *Crowd) Run(ctx context.Context, n int) (times []time.Duration, failed int, err error) {
	var next, failures atomic.Int64
	var mu sync.Mutex
	var first error
	var running sync.WaitGroup
	for _, client := range c.clients {
		running.Go(func() {
			own := make([]time.Duration, 0, 2*n/len(c.clients))
			for next.Add(1) <= int64(n) && failures.Load() <= maxFailures && ctx.Err() == nil {
				began := time.Now()
				if err := c.do(ctx, client); err != nil {
					client.Close()
					failures.Add(1)
					mu.Lock()
					first = cmp.Or(first, err)
					mu.Unlock()
					continue
				}
				own = append(own, time.Since(began))
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, own...)
		})
	}
	running.Wait()
	failed = int(failures.Load())
	switch {
	case ctx.Err() != nil:
		return times, failed, ctx.Err()
	case failed > maxFailures:
		return times, failed, fmt.Errorf("more than %d operations failed, the first: %w", maxFailures, first)
	}
	return times, failed, nil
}
