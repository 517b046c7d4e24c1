package attempts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swivel/cmd/swivel/internal/reply"
	"swivel/pool"
	"swivel/pool/upstream"
	"swivel/pool/upstream/lifetime"
)

// Plan is how an exchange is served. T is what an attempt yields: a tunnel, a
// response.
type Plan[T any] struct {
	// Try is one attempt through the lease's proxy. Its error is an
	// *upstream.Error, or one wrapped by Final. Several may run at once.
	Try func(ctx context.Context, lease *pool.Lease) (T, error)
	// Late takes what an attempt yields after another one has served, and
	// settles its lease.
	Late func(lease *pool.Lease, value T)
	// Probe: the exchange may carry the test of a resting proxy, and be served
	// by another one that overtakes it.
	Probe bool
	// Hedge: an attempt is a mere handshake, so that a second proxy is asked as
	// soon as the first is slower than usual.
	Hedge bool
	// After is the lease of an attempt that had served the exchange, until it
	// turned out that another proxy is needed; else nil.
	After *pool.Lease
}

// grace is what a probe's lease lasts beyond the attempt's own deadlines.
const grace = 5 * time.Second

// Run tries proxies until one serves, and returns what it yields and its lease.
// The lease is neither settled nor released: the caller does the one when the
// attempt's fate is known, and the other when its connection is no longer used.
// Attempts that are overtaken run on in the background to their own verdict; else
// a proxy that never answers would stay unblamed because it is always overtaken.
// The error is a *reply.Error or wraps ErrClientGone.
//
// It may be run again after it has served (see Plan.After), with the attempts
// that are left, but not twice at once.
func Run[T any](ctx context.Context, x *Exchange, plan Plan[T]) (value T, lease *pool.Lease, err error) {
	if x.refused != nil {
		return value, nil, x.refused
	}
	r := newRace(ctx, x, plan)
	defer r.leave()
	if !r.first() {
		if ctx.Err() != nil {
			return value, nil, fmt.Errorf("%w: %w", ErrClientGone, ctx.Err())
		}
		return value, nil, x.spent(false)
	}
	r.aside()
	patience := newPatience(r.patience(), x.loop.Settings.ExchangeTimeout)
	defer patience.timer.Stop()
	for {
		select {
		case a := <-r.arrivals:
			r.running--
			if a.err == nil {
				r.won(a.lease)
				return a.value, a.lease, nil
			}
			if stop := r.failed(ctx, a, patience.end); stop != nil {
				return value, nil, stop
			}
			patience.begin(r.patience())
		case <-patience.timer.C:
			if stop := r.waited(patience); stop != nil {
				return value, nil, stop
			}
		case <-r.life.Done(): // and not ctx's, whose channel would stay as long as a tunnel does
			r.collect()
			return value, nil, fmt.Errorf("%w: %w", ErrClientGone, ctx.Err())
		}
	}
}

// race is the attempts of one exchange.
type race[T any] struct {
	x        *Exchange
	plan     Plan[T]
	life     lifetime.Context // of the attempts
	follows  lifetime.Hook    // the client's context
	arrivals chan arrival[T]  // has room for all attempts, and for the one without a proxy
	running  int
	last     *pool.Lease
	stranger *pool.Lease // see askBeside; nil: there is none
	late     bool        // the exchange's time is over: nothing more is tried
}

// arrival is the end of one attempt.
type arrival[T any] struct {
	lease *pool.Lease
	value T
	err   error
}

func newRace[T any](ctx context.Context, x *Exchange, plan Plan[T]) *race[T] {
	r := &race[T]{x: x, plan: plan, arrivals: make(chan arrival[T], x.loop.Settings.Attempts+1), last: plan.After}
	r.follows = lifetime.AfterFunc(ctx, r.life.Cancel)
	return r
}

// first makes the first attempt of a run; false when there is none. In the place of
// one that had served it is a retry, for which nobody waits in line: the client may
// have an answer already, if not a good one.
func (r *race[T]) first() bool {
	after := r.plan.After
	if after == nil {
		return r.begin()
	}
	if !r.x.mayRetry(after) {
		return false
	}
	if r.pause(time.Time{}) && (r.launch() || r.lastResort()) {
		return true
	}
	r.x.notRetried(after)
	return false
}

// launch starts an attempt through the next proxy; false when there is none.
func (r *race[T]) launch() bool {
	if r.late || r.x.launched >= r.x.loop.Settings.Attempts {
		return false
	}
	lease, ok := r.next()
	if !ok {
		return false
	}
	r.start(lease)
	return true
}

// next leases the proxy of the next attempt. Of several the last one finds out
// about nobody: it goes to who has served somebody lately. In a list of which little
// has ever worked, or that hides black holes, chance alone would leave many without
// an answer whom a proxy could serve that is known.
func (r *race[T]) next() (*pool.Lease, bool) {
	x, loop := r.x, r.x.loop
	if x.launched > 0 && x.launched == loop.Settings.Attempts-1 {
		if lease, ok := r.nextProven(); ok {
			return lease, true
		}
	}
	lease, events, ok := x.pool.Next(time.Now(), loop.leaseTime(), r.plan.Probe)
	x.tell(events)
	return lease, ok
}

func (r *race[T]) nextProven() (*pool.Lease, bool) {
	lease, events, ok := r.x.pool.NextProven(time.Now(), r.x.loop.leaseTime())
	r.x.tell(events)
	return lease, ok
}

// start makes the attempt of a lease.
func (r *race[T]) start(lease *pool.Lease) {
	r.x.launched++
	r.running++
	r.last = lease
	r.x.loop.Workers.Go(func() {
		value, err := r.plan.Try(&r.life, lease)
		r.arrivals <- arrival[T]{lease, value, err}
	})
}

// won notes that an attempt serves.
func (r *race[T]) won(lease *pool.Lease) {
	if r.plan.Hedge {
		r.x.loop.recent.add(r.x.Age(lease))
	}
	if r.stranger != nil && r.stranger != lease {
		r.x.pool.Overdue(r.stranger, time.Now())
	}
	r.x.pool.Won(lease, time.Now())
}

// waited does what is due when patience is over: that with the attempt, or that
// with all of them. Its result is not nil when the exchange is over.
func (r *race[T]) waited(patience *patience) error {
	switch {
	case patience.ended():
		if r.plan.Hedge { // a plain request may be with its target by now
			return r.x.spent(true)
		}
		r.late = true
	case !patience.heldUp():
		r.overtake()
		patience.begin(r.patience())
	}
	return nil
}

// leaseTime is what an attempt takes at most. A tunnel's client may take as long
// to ask as the target to answer.
func (l *Loop) leaseTime() time.Duration {
	s := l.Settings
	return s.ExchangeTimeout + s.FirstByte + max(s.FirstByte, s.Response) + grace
}

// failed settles the lease of an attempt that did not serve, and tries the next
// proxy when nobody else is on the way, as long as the time of all attempts is not
// at its end. Its result is not nil when the exchange is over.
func (r *race[T]) failed(ctx context.Context, a arrival[T], end time.Time) error {
	x := r.x
	fault := x.Failed(a.lease, a.err)
	var final *Final
	switch {
	case ctx.Err() != nil || fault.Signal == pool.ClientGone:
		return fmt.Errorf("%w: %w", ErrClientGone, a.err)
	case fault.Signal == pool.HandshakeLoop && (x.Hops > 0 || errors.As(a.err, &final)):
		return leadsBack() // others are tried where the client came in only, and not at every hop
	case errors.Is(a.err, upstream.ErrShunned):
		return reply.TargetDenied("the target leads to an address that this proxy does not connect to")
	case x.pool.TargetToBlame():
		return reply.TargetDown()
	case errors.As(a.err, &final):
		return x.spent(false).NotRepeatable()
	case r.running > 0:
		return nil
	case !x.mayRetry(a.lease):
		return x.spent(false)
	case !r.pause(end):
		x.notRetried(a.lease)
		return fmt.Errorf("%w: %w", ErrClientGone, ctx.Err())
	case !r.launch() && !r.lastResort():
		x.notRetried(a.lease)
		return x.spent(false)
	}
	return nil
}

// mayRetry takes from the budget what an attempt behind one that failed costs;
// nothing, if that was a probe, for which the client did not ask.
func (x *Exchange) mayRetry(failed *pool.Lease) bool {
	return failed.Probe || x.loop.extra.Spend(time.Now())
}

// notRetried gives back what mayRetry took, when there is nobody left to try, or
// nobody to try it for. It is taken before that is known: else several exchanges
// could retry on the same last token.
func (x *Exchange) notRetried(failed *pool.Lease) {
	if !failed.Probe {
		x.loop.extra.GiveBack()
	}
}

// Failed settles the lease of an attempt that did not serve, by its error, and
// releases it.
func (x *Exchange) Failed(l *pool.Lease, err error) pool.Fault {
	fault := pool.Fault{Signal: pool.LocalFault, Err: err}
	var up *upstream.Error
	if errors.As(err, &up) {
		fault.Signal, fault.Rest = up.Signal, up.RetryAfter
	}
	x.Fail(l, fault)
	l.Release()
	return fault
}
