package attempts

import (
	"context"
	"time"
)

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
	case r.plan.Probe && !r.last.Proxy.HasServed():
		return min(unknownHedge, r.x.loop.Settings.FirstByte) // it may be a black hole as well
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

// overtaken settles an attempt whose result nobody waits for any more.
func (r *race[T]) overtaken(a arrival[T]) {
	if a.err != nil {
		r.x.Failed(a.lease, a.err)
		return
	}
	r.plan.Late(a.lease, a.value)
	a.lease.Release()
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
