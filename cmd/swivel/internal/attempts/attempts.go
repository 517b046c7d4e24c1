// Package attempts is the one loop that picks proxies for an exchange until
// one serves it. CONNECT and plain HTTP differ only in the [Plan] that they
// hand in; who is tried, how often, when a slow one is overtaken, what is blamed
// on whom and what the client is told in the end is decided here.
package attempts

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"swivel/cmd/swivel/internal/reply"
	"swivel/cmd/swivel/internal/workers"
	"swivel/pool"
	"swivel/pool/budget"
)

// Settings bound an exchange.
type Settings struct {
	Attempts        int           // at most, on different proxies
	ExchangeTimeout time.Duration // until a proxy has the request (CONNECT: until our 200)
	FirstByte       time.Duration // from the 200 to the first byte of the target
	Response        time.Duration // for the head of a plain response
	ProbePatience   time.Duration // what a client waits for a resting proxy that it tests
	HedgeOff        bool          // never ask a second proxy while the first is slow
	HedgeAfter      time.Duration // how slow it has to be; 0: slower than 95 % of the recent handshakes
	OnExhausted     Exhausted     // what happens when no proxy can be picked
	RetryBudget     float64       // retries and hedges for each exchange, on average; some there are always
}

// Loop runs exchanges. It is safe for concurrent use; create it with New.
type Loop struct {
	Pool     *pool.Pool
	Settings Settings
	// Workers are the goroutines of attempts, and of what leads to them.
	Workers workers.Pool
	sink    func([]pool.Event)
	extra   *budget.Budget // for retries and hedges
	recent  handshakes
	line    line

	stopping   atomic.Bool     // exchanges are cut off
	ctx        context.Context // of attempts that outlive their exchange
	cancel     context.CancelFunc
	background sync.WaitGroup
}

// The retry budget beside its share of the exchanges: an outage must not
// multiply the traffic.
const (
	extraPerSecond = 10
	extraCapacity  = 500
)

// New returns a loop over the pool. sink takes the changes of breakers, to be
// stored, counted and logged; it must not block.
func New(p *pool.Pool, s Settings, sink func([]pool.Event)) *Loop {
	l := &Loop{Pool: p, Settings: s, sink: sink}
	l.extra = budget.New(s.RetryBudget, extraPerSecond, extraCapacity, time.Now())
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// RetryBudget is how many retries and second requests may be made at once.
func (l *Loop) RetryBudget(now time.Time) float64 { return l.extra.Tokens(now) }

// CutOff says that from here on it is this process that ends exchanges, and not
// their clients.
func (l *Loop) CutOff() { l.stopping.Store(true) }

// Close ends the attempts that outlived their exchanges and waits for them.
// Nothing may be begun after it.
func (l *Loop) Close() {
	l.CutOff()
	l.cancel()
	l.background.Wait()
	l.Workers.Close()
}

// Exchange is one client request under way. Its methods are safe for concurrent
// use.
type Exchange struct {
	ID     string // request id
	Target string // host:port
	Hops   int    // how many swivels the request has passed; to be set before Run
	pool   *pool.Exchange
	loop   *Loop
	// launched attempts, for whoever runs the exchange at the time
	launched int
	// refused is set when the exchange must not even try.
	refused *reply.Error
}

// Begin starts an exchange. End must be called.
func (l *Loop) Begin(r pool.Request) *Exchange {
	x := &Exchange{ID: r.ID, Target: r.Target, loop: l}
	if !r.Canary {
		l.extra.Earn()
	}
	inner, refusal, events := l.Pool.Begin(r, time.Now())
	x.pool = inner
	x.tell(events)
	switch {
	case refusal == nil:
	case refusal.TargetDown:
		x.refused = reply.TargetRests(refusal.RetryAfter)
	default:
		x.refused = reply.NoProxy(refusal.RetryAfter)
	}
	return x
}

// Refused says that the exchange will not be tried: Run only says why.
func (x *Exchange) Refused() bool { return x.refused != nil }

// Aside leases a resting proxy that is due for a test, beside the attempts that
// Run makes; false when there is none, or the exchange is refused. The lease is
// settled by Reached or Failed, and to be released.
func (x *Exchange) Aside() (*pool.Lease, bool) {
	if x.refused != nil {
		return nil, false
	}
	lease, events, ok := x.pool.Aside(time.Now(), x.loop.leaseTime())
	x.tell(events)
	return lease, ok
}

// Sticky says that the exchange belongs to a session: what one proxy has begun for
// it no other one goes on with.
func (x *Exchange) Sticky() bool { return x.pool.Sticky() }

// Final wraps the error of an attempt after which no other proxy may be
// tried, because the request may have reached the target.
type Final struct{ Err error }

func (f *Final) Error() string { return f.Err.Error() }

// Unwrap gives the attempt's own error.
func (f *Final) Unwrap() error { return f.Err }

// ErrClientGone is the end of an exchange whose client has left: there is
// nobody to tell.
var ErrClientGone = errors.New("the client has left")

// errStopping is why an attempt ended that nobody had given up.
var errStopping = errors.New("swivel is being stopped")

// Fail settles a lease whose attempt did not serve. Whoever runs an attempt sees
// that it is not wanted any more, and takes that for the client's doing.
func (x *Exchange) Fail(l *pool.Lease, f pool.Fault) {
	if f.Signal == pool.ClientGone && x.loop.stopping.Load() {
		f.Signal, f.Err = pool.LocalFault, errStopping
	}
	x.tell(x.pool.Fail(l, f, time.Now()))
}

// Reached settles a lease whose attempt reached the target; took is the time to
// the first byte, 0 if it says nothing about the proxy.
func (x *Exchange) Reached(l *pool.Lease, s pool.Signal, took time.Duration) {
	x.tell(x.pool.Reached(l, s, took, time.Now()))
}

// Ban keeps the lease's proxy away from the target for rest, 0 for the usual
// time.
func (x *Exchange) Ban(l *pool.Lease, rest time.Duration) { x.pool.Ban(l, rest, time.Now()) }

// TargetUp says that the lease's attempt reached the target; the lease is
// settled later.
func (x *Exchange) TargetUp(l *pool.Lease) { x.tell(x.pool.TargetUp(l, time.Now())) }

// Unused settles the lease of a tunnel that was never asked for anything.
func (x *Exchange) Unused(l *pool.Lease) { x.tell(x.pool.Unused(l, 0, time.Now())) }

// Overtaken settles the lease of a tunnel that was opened after another one had
// won.
func (x *Exchange) Overtaken(l *pool.Lease) { x.tell(x.pool.Unused(l, x.Age(l), time.Now())) }

// Behind does what is left to do of an attempt, for which the client does not wait.
// It has to end by itself: Close of the loop waits for it.
func (x *Exchange) Behind(rest func()) { x.loop.background.Go(rest) }

// End says that nothing more will be tried; what is in doubt is decided as soon
// as the attempts under way have reported.
func (x *Exchange) End() { x.tell(x.pool.End(time.Now())) }

// Age is the time since the lease was given.
func (x *Exchange) Age(l *pool.Lease) time.Duration { return time.Since(l.Started) }

// Attempts returns what was tried, for the log.
func (x *Exchange) Attempts() []pool.Attempt { return x.pool.Attempts() }

func (x *Exchange) tell(events []pool.Event) {
	if len(events) > 0 {
		x.loop.sink(events)
	}
}
