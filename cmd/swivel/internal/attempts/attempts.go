// Package attempts is the one loop that picks proxies for an exchange until
// one serves it. CONNECT and plain HTTP differ only in the try function that
// they hand in; who is tried, how often, what is blamed on whom and what the
// client is told in the end is decided here.
package attempts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swivel/cmd/swivel/internal/reply"
	"swivel/pool"
	"swivel/pool/upstream"
)

// Settings bound an exchange.
type Settings struct {
	Attempts        int           // at most, on different proxies
	ExchangeTimeout time.Duration // until a proxy has the request (CONNECT: until our 200)
	FirstByte       time.Duration // from the 200 to the first byte of the target
	Response        time.Duration // for the head of a plain response
}

// Loop runs exchanges. It is safe for concurrent use.
type Loop struct {
	Pool     *pool.Pool
	Settings Settings
	// Sink takes the changes of breakers: to be stored, counted and logged. It
	// must not block.
	Sink func(requestID string, events []pool.Event)
}

// Exchange is one client request under way. It belongs to one goroutine at a
// time.
type Exchange struct {
	ID     string // request id
	Target string // host:port
	pool   *pool.Exchange
	loop   *Loop
}

// Begin starts an exchange for target. End must be called.
func (l *Loop) Begin(id, target string) *Exchange {
	return &Exchange{ID: id, Target: target, pool: l.Pool.Begin(target), loop: l}
}

// Try is one attempt through the lease's proxy. Its error is an
// *upstream.Error, or one of those wrapped by Final.
type Try func(ctx context.Context, lease *pool.Lease) error

// Final wraps the error of an attempt after which no other proxy may be
// tried, because the request may have reached the target.
type Final struct{ Err error }

func (f *Final) Error() string { return f.Err.Error() }

// Unwrap gives the attempt's own error.
func (f *Final) Unwrap() error { return f.Err }

// ErrClientGone is the end of an exchange whose client has left: there is
// nobody to tell.
var ErrClientGone = errors.New("the client has left")

// grace is what a probe's lease lasts beyond the attempt's own deadlines.
const grace = 5 * time.Second

// Run tries proxies until one serves. The lease it returns is not settled:
// the caller does that with Reached, Unused or Fail when the attempt's fate is
// known. Its error is a *reply.Error or wraps ErrClientGone.
func (x *Exchange) Run(ctx context.Context, try Try) (*pool.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, x.loop.Settings.ExchangeTimeout)
	defer cancel()
	limits := x.loop.Settings
	// A tunnel's client may take as long to ask as the target to answer.
	leaseTime := limits.ExchangeTimeout + max(2*limits.FirstByte, limits.Response) + grace
	for range limits.Attempts {
		lease, events, ok := x.pool.Next(time.Now(), leaseTime)
		x.sink(events)
		if !ok {
			break
		}
		err := try(ctx, lease)
		if err == nil {
			return lease, nil
		}
		if stop := x.failed(ctx, lease, err); stop != nil {
			return nil, stop
		}
	}
	return nil, x.spent(false)
}

// failed settles the lease of an attempt that did not serve. Its result is not
// nil when the exchange is over.
func (x *Exchange) failed(ctx context.Context, lease *pool.Lease, err error) error {
	fault := pool.Fault{Signal: pool.LocalFault, Err: err}
	var up *upstream.Error
	if errors.As(err, &up) {
		fault.Signal, fault.Rest = up.Signal, up.RetryAfter
	}
	outOfTime := errors.Is(ctx.Err(), context.DeadlineExceeded)
	if fault.Signal == pool.ClientGone && errors.Is(err, context.DeadlineExceeded) {
		// Not the client gave up, the exchange's time did: there is somebody
		// to tell. The proxy had less time than is its due.
		fault.Signal = pool.LocalFault
	}
	x.Fail(lease, fault)
	var final *Final
	switch {
	case fault.Signal == pool.ClientGone:
		return fmt.Errorf("%w: %w", ErrClientGone, err)
	case x.pool.TargetToBlame():
		return reply.TargetDown()
	case errors.As(err, &final):
		if fault.Signal.Timeout() || outOfTime {
			return reply.Timeout(len(x.pool.Attempts()))
		}
		return reply.NotRepeatable()
	case outOfTime:
		return x.spent(fault.Signal == pool.LocalFault)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ErrClientGone, ctx.Err())
	}
	return nil
}

// spent is the answer when nobody is left to try; cut says that the last
// attempt was ended by the exchange's own deadline.
func (x *Exchange) spent(cut bool) *reply.Error {
	tried := x.pool.Attempts()
	if len(tried) == 0 {
		return reply.NoProxy(x.loop.Pool.RetryAfter(time.Now()))
	}
	for i := range tried {
		if !tried[i].Signal.Timeout() && !(cut && i == len(tried)-1) {
			return reply.AttemptsSpent(len(tried))
		}
	}
	return reply.Timeout(len(tried))
}

// Fail settles a lease whose attempt did not serve.
func (x *Exchange) Fail(l *pool.Lease, f pool.Fault) {
	x.sink(x.pool.Fail(l, f, time.Now()))
}

// Reached settles a lease whose attempt reached the target.
func (x *Exchange) Reached(l *pool.Lease, s pool.Signal) {
	x.sink(x.pool.Reached(l, s, time.Now()))
}

// TargetUp says that the latest attempt reached the target; its lease is
// settled later.
func (x *Exchange) TargetUp() { x.sink(x.pool.TargetUp(time.Now())) }

// Unused settles the lease of a tunnel that was never asked for anything.
func (x *Exchange) Unused(l *pool.Lease) { x.sink(x.pool.Unused(l, time.Now())) }

// End closes the exchange; what was in doubt is decided.
func (x *Exchange) End() { x.sink(x.pool.End(time.Now())) }

// Attempts returns what was tried, for the log.
func (x *Exchange) Attempts() []pool.Attempt { return x.pool.Attempts() }

func (x *Exchange) sink(events []pool.Event) {
	if len(events) > 0 {
		x.loop.Sink(x.ID, events)
	}
}
