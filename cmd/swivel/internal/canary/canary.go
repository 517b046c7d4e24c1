// Package canary finds out which resting proxies are back, without a client's
// request: it asks for a URL of the operator's choice through proxies whose rest
// is over. To the pool these are probes like any other, with the same leases,
// outcomes and blame, but they are counted apart, and cost no client anything.
//
// A canary that is down itself would keep every proxy from coming back. So, when
// it has not been reached for some tests in a row, the requests of clients test
// proxies again, as they do without a canary, which meanwhile is tried now and
// then.
//
//	c := canary.New(loop, dialer, target, log)
//	c.Run(ctx) // until ctx ends
package canary

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/tryout"
	"swivel/pool"
	"swivel/pool/upstream"
)

const (
	// every is the time between two looks for proxies that are due, give or take
	// half of it, so that several swivels do not ask a target in step.
	every = time.Second
	// maxTests bounds the tests under way: each takes a descriptor, and proxies
	// that say nothing take all of their time.
	maxTests = 256
	// doubtfulTests in a row are too many for a canary that is up.
	doubtfulTests = 5
	// A canary in doubt is tried once in this time, which doubles.
	leastPause, mostPause = 5 * time.Second, time.Minute
)

// Canary tests proxies. Create it with New; Run may be called once.
type Canary struct {
	loop   *attempts.Loop
	target string // as exchanges name it
	ask    func(ctx context.Context, p *pool.Spec) (tryout.Answer, error)
	log    *eventlog.Log
	tests  sync.WaitGroup

	mu        sync.Mutex
	running   int           // tests
	reachedAt time.Time     // last
	doubtful  int           // tests in a row, up to doubtfulTests
	pause     time.Duration // while in doubt
}

// New returns a canary at the target, which is a URL.
func New(loop *attempts.Loop, d *upstream.Dialer, target tryout.Target, log *eventlog.Log) *Canary {
	return &Canary{
		loop: loop, target: target.Address(), log: log,
		ask: func(ctx context.Context, p *pool.Spec) (tryout.Answer, error) {
			return target.Ask(ctx, d, p, nil, loop.Settings.FirstByte)
		},
	}
}

// Run tests proxies as they fall due, until ctx ends.
func (c *Canary) Run(ctx context.Context) {
	c.loop.Pool.TestApart(true)
	defer c.tests.Wait()
	wait := time.NewTimer(jittered(every))
	defer wait.Stop()
	for round := 1; ; round++ {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
			c.round(ctx, fmt.Sprintf("canary-%d", round))
			wait.Reset(jittered(c.nextPause()))
		}
	}
}

// jittered is between one half and three halves of d.
func jittered(d time.Duration) time.Duration { return d/2 + rand.N(d) }

// round begins a test of every proxy that is due, as far as the rate of probes
// allows. While this machine's own network seems to be down nobody is tested: the
// one request a second that may try is a client's.
func (c *Canary) round(ctx context.Context, id string) {
	if c.loop.Pool.LocalOutage() {
		return
	}
	x := c.loop.Begin(pool.Request{ID: id, Target: c.target, Canary: true})
	if x.Refused() { // the target is known to be down
		c.doubt(time.Now())
	}
	var tests sync.WaitGroup
	begun := 0
	for ; c.enter(); begun++ {
		lease, ok := x.Aside()
		if !ok {
			c.leave()
			break
		}
		tests.Go(func() { c.test(ctx, x, lease) })
	}
	x.End()
	if begun > 0 {
		c.tests.Go(func() {
			tests.Wait()
			c.log.Canary(x.ID, x.Target, x.Attempts())
		})
	}
}

// enter takes the room for a test, if there is any.
func (c *Canary) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := maxTests
	if c.doubtful == doubtfulTests {
		most = 1
	}
	if c.running >= most {
		return false
	}
	c.running++
	return true
}

func (c *Canary) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
}

// test asks for the URL through one proxy.
func (c *Canary) test(ctx context.Context, x *attempts.Exchange, l *pool.Lease) {
	defer c.leave()
	answer, err := c.ask(ctx, l.Spec)
	if err = verdict(ctx, answer, err); err == nil {
		x.Reached(l, pool.Response, answer.FirstByte)
		l.Release()
		c.reached()
		return
	}
	if x.Failed(l, err).Signal.Doubtful() {
		c.doubt(l.Started)
	}
}

// verdict is what is wrong with an answer, as an *upstream.Error; nil if nothing
// is. An answer that is not the target's may be the fault of the target, whose
// certificate has expired: it is in doubt, like an error of the target.
func verdict(ctx context.Context, a tryout.Answer, err error) error {
	switch {
	case err == nil && a.Status < 500:
		return nil
	case ctx.Err() != nil:
		return &upstream.Error{Signal: pool.LocalFault, Err: ctx.Err()} // the process ends
	case err == nil:
		return &upstream.Error{Signal: pool.HandshakeGateway, Err: fmt.Errorf("the answer is %d", a.Status)}
	case upstream.SignalOf(err) == pool.NoSignal:
		return &upstream.Error{Signal: pool.TunnelClosed, Err: err}
	}
	return err
}
