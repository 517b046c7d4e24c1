// Package soak keeps swivel busy for a while with all kinds of load at once, and
// looks whether what it holds grows.
package soak

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"swivel/cmd/swivel-bench/internal/load"
	"swivel/cmd/swivel-bench/internal/peer"
)

const (
	// share of the capacity that is used: with all of it, it would be measured how
	// swivel queues.
	share = .8
	// clients is how many ask at once.
	clients = 32
	// held is how many idle tunnels there are meanwhile. Every renewal one of them
	// is closed and a new one opened.
	held    = 200
	renewal = 50 * time.Millisecond
	// maxLog is how long swivel's log may become, in bytes.
	maxLog = 64 << 20
)

// operation is what each client does again and again: a plain request on the
// connection that it keeps, and a new tunnel.
func operation(_ context.Context, c *load.Client) error {
	if err := c.Plain(); err != nil {
		return fmt.Errorf("plain: %w", err)
	}
	if err := c.TunnelBeside(); err != nil {
		return fmt.Errorf("tunnel: %w", err)
	}
	return nil
}

// Capacity is how many operations, each a plain request and a tunnel, the proxy
// at addr does in a second when it is asked for as many as it can for so long.
func Capacity(ctx context.Context, addr string, long time.Duration) (float64, error) {
	crowd := load.NewCrowd(clients, addr, operation)
	defer crowd.Close()
	const batch = 500
	if _, _, err := crowd.Run(ctx, batch); err != nil { // to warm up
		return 0, err
	}
	began, done := time.Now(), 0
	for time.Since(began) < long {
		times, _, err := crowd.Run(ctx, batch)
		if err != nil {
			return 0, err
		}
		done += len(times)
	}
	return float64(done) / time.Since(began).Seconds(), nil
}

// Plan is a run.
type Plan struct {
	Capacity float64 // operations a second, of which a share is asked for
	For      time.Duration
	Every    time.Duration // between two samples
}

// Run keeps r busy, with a line for every sample, and returns the samples and
// what was done. It ends early with ctx, and when r cannot be sampled any more.
func Run(ctx context.Context, r *peer.Running, p Plan, out io.Writer) (curve []Sample, tally *load.Tally, err error) {
	loading, cancel := context.WithTimeout(ctx, p.For)
	tally = &load.Tally{}
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	crowd := load.NewCrowd(clients, r.Addr, operation)
	running.Go(func() {
		defer crowd.Close()
		crowd.Paced(loading, share*p.Capacity, tally)
	})
	running.Go(func() { hold(loading, r.Addr, tally) })
	_, _ = fmt.Fprint(out, sampleHead)
	every, began := time.NewTicker(p.Every), time.Now()
	defer every.Stop()
	for {
		select {
		case <-loading.Done():
			return curve, tally, ctx.Err()
		case <-every.C:
		}
		s, err := take(loading, r, tally, began)
		if loading.Err() != nil {
			continue // it may be that which failed
		}
		if err != nil {
			return curve, tally, err
		}
		curve = append(curve, s)
		_, _ = fmt.Fprint(out, s)
	}
}

// hold keeps idle tunnels open, and renews them one after the other.
func hold(ctx context.Context, addr string, tally *load.Tally) {
	tunnels := make([]*load.Client, held)
	for i := range tunnels {
		tunnels[i] = load.NewClient(addr)
		defer tunnels[i].Close()
		tally.Add(tunnels[i].OpenTunnel())
	}
	next := time.NewTicker(renewal)
	defer next.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		oldest := tunnels[i%held]
		oldest.Close()
		tally.Add(oldest.OpenTunnel())
	}
}
