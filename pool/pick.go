package pool

import (
	"iter"
	"math/rand/v2"
	"slices"
	"time"
)

// drawLimit is how many draws a pick makes before it goes through the list. A
// draw that meets a member which this exchange must not use is thrown away and
// repeated: what is left of the distribution then is exactly the weights of the
// others. With nine of ten members excluded, one pick in a thousand needs the
// list.
const drawLimit = 64

// pick chooses the proxy of the next attempt: that of its session; a due one, when
// the exchange may carry a probe and it is time for one; else one in use, by the
// strategy; and when there is none left, again a due one, whoever may carry it.
func (x *Exchange) pick(now time.Time, lease time.Duration, mayProbe bool, events *[]Event) (grant, bool) {
	s, v := x.view()
	if x.Sticky() {
		return x.pickSticky(s, v, now, lease, events)
	}
	if mayProbe && len(x.attempts) == 0 && !x.pool.apart.Load() {
		if g, ok := x.pickDue(s, v, now, lease, true, events); ok {
			return g, true
		}
	}
	return x.pickAny(s, v, now, lease, events)
}

// view returns the members that the exchange may have.
func (x *Exchange) view() (*snapshot, *view) {
	s := x.pool.current.Load()
	if x.seen.snapshot != s || x.seen.view.forgotten.Load() {
		x.seen.snapshot, x.seen.view = s, s.all
		if x.asked != nil {
			x.seen.view = s.view(x.asked.constraints, x.pool.options.Strategy, atOnce)
		}
	}
	return s, x.seen.view
}

// pickAny takes one in use, or else a due one.
func (x *Exchange) pickAny(s *snapshot, v *view, now time.Time, lease time.Duration, events *[]Event) (grant, bool) {
	if g, ok := x.draw(v, now, lease, events); ok {
		return g, true
	}
	if g, ok := x.pickFromList(v, now, lease, events); ok {
		return g, true
	}
	if g, ok := x.pickDue(s, v, now, lease, false, events); ok {
		return g, true
	}
	return x.pickSuspended(v, now, lease, events)
}

// draw tries what the strategy proposes.
func (x *Exchange) draw(v *view, now time.Time, lease time.Duration, events *[]Event) (grant, bool) {
	for range drawLimit {
		m := x.propose(v, now)
		if m == nil {
			return grant{}, false
		}
		if g, ok := x.acquire(m, now, lease, events); ok {
			return g, true
		}
	}
	return grant{}, false
}

// candidate draws a member that the exchange may use; nil if luck found none.
func (x *Exchange) candidate(v *view, now time.Time) *Proxy {
	for range drawLimit {
		m := v.draw()
		if m == nil {
			return nil
		}
		if skip := x.skip(v, m, now); skip != InUse {
			x.pool.skipped[skip].Add(1)
			continue
		}
		if f := m.breaker.Load().Factor(now); f < 1 && rand.Float64() >= f {
			continue
		}
		return m
	}
	return nil
}

// pickFromList draws among the members that may be used, by going through all.
func (x *Exchange) pickFromList(v *view, now time.Time, lease time.Duration, events *[]Event) (grant, bool) {
	if v.usable.Load() == 0 {
		return grant{}, false
	}
	return x.pickAmong(v, (*runtime).usable, now, lease, events)
}

// pickSuspended draws among members that owe too many answers, when all of
// several do and no breaker has opened: then it is rather this machine that was
// held up than each of them.
func (x *Exchange) pickSuspended(v *view, now time.Time, lease time.Duration, events *[]Event) (grant, bool) {
	if len(v.members) < 2 || v.usable.Load() > 0 {
		return grant{}, false
	}
	for _, m := range v.members {
		if m.breaker.Load().Resting() {
			return grant{}, false
		}
	}
	return x.pickAmong(v, func(r *runtime) bool { return r.paused.Load() == nil }, now, lease, events)
}

// pickAmong draws among the members that fit, by going through all.
func (x *Exchange) pickAmong(v *view, fits func(*runtime) bool, now time.Time, lease time.Duration, events *[]Event) (grant, bool) {
	var in []*Proxy
	var weights []float64
	var total float64
	for _, m := range v.members {
		if fits(m.runtime) && x.skip(v, m, now) == InUse {
			w := m.Spec.Weight * m.breaker.Load().Factor(now)
			in, weights, total = append(in, m), append(weights, w), total+w
		}
	}
	for len(in) > 0 {
		i := drawWeighted(weights, total)
		if g, ok := x.acquire(in[i], now, lease, events); ok {
			return g, true
		}
		total -= weights[i]
		in, weights = slices.Delete(in, i, i+1), slices.Delete(weights, i, i+1)
	}
	return grant{}, false
}

func drawWeighted(weights []float64, total float64) int {
	r := rand.Float64() * total
	for i, w := range weights {
		if r -= w; r < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// pickDue leases the proxy that has been due for longest. How many probes there
// are is limited by their rate, and as long as others serve also by the share of
// the exchanges that carry one.
func (x *Exchange) pickDue(s *snapshot, v *view, now time.Time, lease time.Duration, shared bool, events *[]Event) (grant, bool) {
	p := x.pool
	for m := range x.due(s, v, now, shared) {
		if p.probes.Tokens(now) < 1 || shared && p.probeShare.Tokens(now) < 1 {
			return grant{}, false
		}
		g, ok := x.acquire(m, now, lease, events)
		if !ok {
			continue
		}
		if shared && g.permit.own.Probe() {
			p.probeShare.Spend(now)
		}
		return g, true
	}
	return grant{}, false
}

// due yields the proxies that are due and that the exchange may have, those that
// wait for longest first. When nobody else is left who meets its constraints,
// it looks at all who do: they may be few among many.
func (x *Exchange) due(s *snapshot, v *view, now time.Time, shared bool) iter.Seq[*Proxy] {
	mayHave := func(m *Proxy) bool {
		return m.paused.Load() == nil && !m.Overdue() && x.skip(v, m, now) == InUse
	}
	return func(yield func(*Proxy) bool) {
		for _, m := range x.pool.testable(s, now) {
			if s.holds(m, v) && mayHave(m) && !yield(m) {
				return
			}
		}
		if shared || v == s.all {
			return
		}
		for _, m := range v.members {
			if m.breaker.Load().Resting() && m.breaker.Load().Ready(now) && mayHave(m) && !yield(m) {
				return
			}
		}
	}
}

// skip says whether the exchange must not use a member that others may: it is
// full, banned for the target, or the exchange has tried it already. A rotating
// proxy, or the only one there is, may come again, for a new connection may leave
// elsewhere; but not when that would find the same.
func (x *Exchange) skip(v *view, m *Proxy, now time.Time) Skip {
	if skip := m.room(now); skip != InUse {
		return skip
	}
	if x.banLeft(m, now) > 0 {
		return Banned
	}
	for i := range x.attempts {
		a := &x.attempts[i]
		if a.Proxy.runtime == m.runtime && (a.Signal.stays() || !m.Spec.Rotating && len(v.members) != 1) {
			return Tried
		}
	}
	return InUse
}

// Again says that the next lease would be one of a proxy that the exchange has
// tried already, since there is nobody else.
func (x *Exchange) Again(now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, v := x.view()
	if x.Sticky() && x.asked.sticky.home != "" {
		home, skip := x.resident(s, v, now)
		if skip == InUse {
			return x.hasTried(home.runtime, len(x.attempts))
		}
	}
	again := false
	for i := range x.attempts {
		again = again || x.skip(v, x.attempts[i].Proxy, now) == InUse && x.attempts[i].Proxy.usable()
	}
	return again && x.allTried(v)
}

// AllTried says that the exchange has tried everybody who can be picked.
func (x *Exchange) AllTried() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, v := x.view()
	return x.allTried(v)
}

// allTried is AllTried. x.mu is held.
func (x *Exchange) allTried(v *view) bool {
	fresh := v.usable.Load()
	for i := range x.attempts {
		if m := x.attempts[i].Proxy; m.usable() && !x.hasTried(m.runtime, i) {
			fresh--
		}
	}
	return fresh <= 0
}

// hasTried says whether one of the first attempts was the proxy's. x.mu is held.
func (x *Exchange) hasTried(r *runtime, first int) bool {
	return slices.ContainsFunc(x.attempts[:first], func(a Attempt) bool { return a.Proxy.runtime == r })
}
