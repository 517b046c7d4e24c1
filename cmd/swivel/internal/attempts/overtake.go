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
	}
	// A response takes as long as the target needs for it; only what no target
	// usually needs is held against the proxy.
	left := r.x.loop.Settings.FirstByte
	if r.young() {
		left -= r.x.Age(r.last)
	}
	if r.withStranger() {
		return min(unknownHedge, left)
	}
	return left
}

// young says that the latest attempt is for a page and not overdue yet: there is a
// look at it before that.
func (r *race[T]) young() bool {
	return !r.plan.Hedge && r.x.Age(r.last) < r.x.loop.Settings.FirstByte
}

// withStranger says that the latest attempt is for a page that may be asked for twice,
// and that its proxy has served nobody: it may be a black hole as well as the target
// be slow.
func (r *race[T]) withStranger() bool {
	return r.plan.Probe && r.young() && !r.last.Proxy.HasServed()
}

// overtake asks another proxy although the latest one may still answer. Going
// past a probe is free: the client did not ask for it.
func (r *race[T]) overtake() {
	loop := r.x.loop
	if r.last.Probe && r.plan.Probe {
		r.launch()
		return
	}
	if r.young() {
		if r.withStranger() {
			r.askBeside()
		}
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

// askBeside asks a proxy that has served lately, if there is one. Nothing is held
// against the stranger until that one has answered before it: a slow page is no
// fault of either. And it is only one that is asked, since the target gets the
// request once more.
func (r *race[T]) askBeside() {
	loop, now := r.x.loop, time.Now()
	if r.late || loop.Settings.HedgeOff || r.x.launched >= loop.Settings.Attempts || loop.extra.Tokens(now) < 1 {
		return
	}
	stranger := r.last
	if lease, ok := r.nextProven(); ok {
		loop.extra.Take(now)
		r.stranger = stranger
		r.start(lease)
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
