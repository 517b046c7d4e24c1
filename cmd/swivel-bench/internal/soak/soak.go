// Package soak keeps swivel busy for a while with all kinds of clients, in front
// of proxies that fail in turn and lists that change, and looks whether it grows,
// whether each error that a client sees has a cause, and whether every exchange
// is accounted for: as its client counts, in swivel's log and in its metrics.
package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"swivel/cmd/swivel-bench/internal/peer"
)

const (
	// upstreams there are, and how many of them are always well: what clients see
	// is to be what swivel makes of a bad pool, and not that there is none.
	upstreams = 8
	sound     = 3
	// atOnce is how many exchanges may be under way, beside the long tunnels.
	atOnce = 400
	// longLife is how long a long tunnel lasts, at most.
	longLife = 40 * time.Second
	// keptAtOnce is how many connections for plain requests are kept.
	keptAtOnce = 64
	// settling is how long all may take to end when nothing new comes.
	settling = 20 * time.Second
)

// Plan is a run.
type Plan struct {
	Rate  int // exchanges begun in a second
	Long  int // long tunnels at a time
	For   time.Duration
	Every time.Duration // between two samples
	Moods time.Duration // how long an upstream keeps a mood, on average
	Lists time.Duration // between two reloads with another list
}

// Env is what swivel has to be started with: rests and time-outs that fit into a
// short run.
var Env = []string{"SWIVEL_BREAKER_OPEN_TIMEOUT=2s", "SWIVEL_BREAKER_MAX_OPEN_TIMEOUT=10s", "SWIVEL_BREAKER_REFUSED_TIMEOUT=5s",
	"SWIVEL_ATTEMPTS_HANDSHAKE_TIMEOUT=4s", "SWIVEL_ATTEMPTS_RESPONSE_TIMEOUT=4s", "SWIVEL_TARGETS_REST=1s"}

// Run is a soak that is under way.
type Run struct {
	plan      Plan
	list      string // file
	ledger    *ledger
	upstreams []*upstream
	reloads   int
	Tally     Tally
}

// New starts the upstreams and writes the first list, so that swivel can be
// started with it.
func New(p Plan, list string) (*Run, error) {
	r := &Run{plan: p, list: list, ledger: newLedger()}
	for range upstreams {
		u, err := newUpstream(r.ledger)
		if err != nil {
			r.Close()
			return nil, err
		}
		r.upstreams = append(r.upstreams, u)
	}
	return r, r.writeList(0)
}

// Close ends the upstreams.
func (r *Run) Close() {
	for _, u := range r.upstreams {
		u.close()
	}
}

// Do keeps p busy, with a line for every sample, and returns the samples. It ends
// early with ctx, and when p cannot be sampled any more. Everything that it has
// begun is over when it returns.
func (r *Run) Do(ctx context.Context, p *peer.Running, watch *Watch, out io.Writer) (curve []Sample, err error) {
	loading, cancel := context.WithTimeout(ctx, r.plan.For)
	var running sync.WaitGroup
	problems := make(chan error, 3)
	c := &clients{proxy: p.Addr, ledger: r.ledger, tally: &r.Tally, kept: make(chan *conn, keptAtOnce)}
	defer func() {
		cancel()
		running.Wait()
		c.closeKept()
		close(problems)
		for problem := range problems {
			err = errors.Join(err, problem)
		}
	}()
	running.Go(func() { r.ask(loading, c) })
	running.Go(func() { r.hold(loading, c) })
	running.Go(func() { problems <- r.flap(loading) })
	running.Go(func() { problems <- r.reload(loading, p) })
	_, _ = fmt.Fprint(out, sampleHead)
	every, began := time.NewTicker(r.plan.Every), time.Now()
	defer every.Stop()
	for {
		select {
		case <-loading.Done():
			return curve, ctx.Err()
		case <-every.C:
		}
		r.ledger.tidy(time.Now())
		s, err := take(loading, p, &r.Tally, began)
		if loading.Err() != nil {
			continue // it may be that which failed
		}
		if err == nil {
			err = watch.Read()
		}
		if err != nil {
			return curve, err
		}
		curve = append(curve, s)
		_, _ = fmt.Fprint(out, s)
	}
}

// ask begins exchanges at the planned rate, however long each takes.
func (r *Run) ask(ctx context.Context, c *clients) {
	var working sync.WaitGroup
	defer working.Wait()
	places := make(chan struct{}, atOnce)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	began, done := time.Now(), 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for due := int(time.Since(began).Seconds() * float64(r.plan.Rate)); done < due; done++ {
			select {
			case places <- struct{}{}:
				do := draw()
				working.Go(func() {
					defer func() { <-places }()
					do(c)
				})
			default:
				r.Tally.skip()
			}
		}
	}
}

// draw chooses what to do.
func draw() func(*clients) {
	n := rand.N(100)
	for _, w := range mix {
		if n -= w.share; n < 0 {
			return w.do
		}
	}
	return mix[0].do
}

// hold keeps the long tunnels.
func (r *Run) hold(ctx context.Context, c *clients) {
	var holding sync.WaitGroup
	for range r.plan.Long {
		holding.Go(func() {
			for ctx.Err() == nil {
				c.tunnel(kindConnect, "", long(ctx, rand.N(longLife)))
				pause(ctx, 100*time.Millisecond) // when nobody can be reached
			}
		})
	}
	holding.Wait()
}

// pause waits; false when ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
