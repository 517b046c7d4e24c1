package attempts

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	if !x.mayRetry(plan.After) || plan.After != nil && !r.pause(time.Time{}) || !r.begin() {
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
				if plan.Hedge {
					x.loop.recent.add(x.Age(a.lease))
				}
				x.pool.Won(a.lease, time.Now())
				return a.value, a.lease, nil
			}
			if stop := r.failed(ctx, a, patience.end); stop != nil {
				return value, nil, stop
			}
			patience.begin(r.patience())
		case <-patience.timer.C:
			switch {
			case patience.ended():
				if plan.Hedge { // a plain request may be with its target by now
					return value, nil, x.spent(true)
				}
				r.late = true
			case !patience.heldUp():
				r.overtake()
				patience.begin(r.patience())
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
	arrivals chan arrival[T]
	running  int
	last     *pool.Lease
	late     bool // the exchange's time is over: nothing more is tried
}

// arrival is the end of one attempt.
type arrival[T any] struct {
	lease *pool.Lease
	value T
	err   error
}

func newRace[T any](ctx context.Context, x *Exchange, plan Plan[T]) *race[T] {
	r := &race[T]{x: x, plan: plan, arrivals: make(chan arrival[T], x.loop.Settings.Attempts)}
	r.follows = lifetime.AfterFunc(ctx, r.life.Cancel)
	return r
}

// launch starts an attempt through the next proxy; false when there is none.
func (r *race[T]) launch() bool {
	x, s := r.x, r.x.loop.Settings
	if r.late || x.launched == s.Attempts {
		return false
	}
	lease, events, ok := x.pool.Next(time.Now(), r.x.loop.leaseTime(), r.plan.Probe)
	x.tell(events)
	if !ok {
		return false
	}
	r.start(lease)
	return true
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

// leaseTime is what an attempt takes at most. A tunnel's client may take as long
// to ask as the target to answer.
func (l *Loop) leaseTime() time.Duration {
	s := l.Settings
	return s.ExchangeTimeout + max(2*s.FirstByte, s.Response) + grace
}

// aside tests a resting proxy beside the exchange's own attempt, when that is
// its session's affair and cannot be the test itself.
func (r *race[T]) aside() {
	x := r.x
	if !r.plan.Hedge || !x.pool.Sticky() {
		return
	}
	lease, ok := x.Aside()
	if !ok {
		return
	}
	ctx := x.loop.ctx
	x.loop.background.Go(func() {
		value, err := r.plan.Try(ctx, lease)
		r.overtaken(arrival[T]{lease, value, err})
	})
}

// patience is how long the latest attempt may take before it is overtaken.
func (r *race[T]) patience() time.Duration {
	switch {
	case r.last.Probe && r.plan.Probe:
		return r.x.loop.Settings.ProbePatience
	case r.plan.Hedge:
		return r.x.loop.hedgeAfter()
	}
	// A response takes as long as the target needs for it; only what no target
	// usually needs is held against the proxy.
	return r.x.loop.Settings.FirstByte
}

// overtake asks another proxy although the latest one may still answer. Going
// past a probe is free: the client did not ask for it.
func (r *race[T]) overtake() {
	loop := r.x.loop
	if r.last.Probe && r.plan.Probe {
		r.launch()
		return
	}
	now := time.Now()
	r.x.pool.Overdue(r.last, now)
	again := r.plan.Hedge || r.plan.Probe // it does no harm to ask twice
	if r.x.pool.Sticky() {                // but for the session: two proxies are two identities
		again = false
	}
	if again && !loop.Settings.HedgeOff && loop.extra.Tokens(now) >= 1 && r.launch() {
		loop.extra.Take(now) // only now: who finds nobody comes here again and again
	}
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
		return fmt.Errorf("%w: %w", ErrClientGone, ctx.Err())
	case !r.launch() && !r.lastResort():
		return x.spent(false)
	}
	return nil
}

// mayRetry takes from the budget what an attempt behind one that failed costs;
// nothing, if that was a probe, for which the client did not ask.
func (x *Exchange) mayRetry(failed *pool.Lease) bool {
	return failed == nil || failed.Probe || x.loop.extra.Spend(time.Now())
}

// collect takes what the attempts report that the client's leaving has ended, so
// that it is there when the exchange is logged. They do so at once.
func (r *race[T]) collect() {
	patience := time.NewTimer(5 * time.Second)
	defer patience.Stop()
	for r.running > 0 {
		select {
		case a := <-r.arrivals:
			r.running--
			r.overtaken(a)
		case <-patience.C:
			return
		}
	}
}

// overtaken settles an attempt whose result nobody waits for any more.
func (r *race[T]) overtaken(a arrival[T]) {
	if a.err != nil {
		r.x.Failed(a.lease, a.err)
		return
	}
	r.plan.Late(a.lease, a.value)
	a.lease.Release()
}

// leave ends the race. Who is still on the way goes on without the client.
func (r *race[T]) leave() {
	r.follows.Stop() // when the client has left, its context has ended them already
	if r.running == 0 {
		return
	}
	r.x.loop.background.Go(func() {
		defer context.AfterFunc(r.x.loop.ctx, r.life.Cancel)()
		for ; r.running > 0; r.running-- {
			r.overtaken(<-r.arrivals)
		}
	})
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

func allAre(signals []pool.Signal, s pool.Signal) bool {
	return !slices.ContainsFunc(signals, func(one pool.Signal) bool { return one != s })
}

func leadsBack() *reply.Error {
	return reply.Loop("the proxies lead back here: a list holds a proxy that asks this one")
}

// spent is the answer when nobody is left to try; outOfTime says that attempts
// are still on the way.
func (x *Exchange) spent(outOfTime bool) *reply.Error {
	tried := x.pool.Attempts()
	if keys, unmatched := x.pool.Unmatched(); unmatched {
		return reply.NoMatch(keys)
	}
	if len(tried) == 0 {
		return x.nobody()
	}
	signals := make([]pool.Signal, len(tried))
	timeouts := 0
	for i, a := range tried {
		signals[i] = a.Signal
		if outOfTime && a.Signal == pool.NoSignal {
			signals[i] = pool.HandshakeTimeout
		}
		if signals[i].Timeout() {
			timeouts++
		}
	}
	switch {
	case timeouts == len(tried):
		return reply.Timeout(len(tried))
	case allAre(signals, pool.LocalFault):
		return reply.LocalFault()
	case allAre(signals, pool.HandshakeLoop):
		return leadsBack()
	}
	spent := reply.AttemptsSpent(signals)
	spent.RetryAfter = x.pool.RetryAfter(time.Now()) // 0 while somebody can be tried
	return spent
}
