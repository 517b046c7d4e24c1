package pool

import (
	"math/rand/v2"
	"slices"
	"time"

	"swivel/breaker"
)

// drawLimit is how many draws a pick makes before it goes through the list.
// A draw that meets a member who is out is thrown away and repeated: what is
// left of the distribution then is exactly the weights of those who are in.
// With nine of ten members out, one pick in a thousand needs the list.
const drawLimit = 64

// overdueLimit is how many overdue attempts suspend a proxy.
const overdueLimit = 5

// grant is what a pick found.
type grant struct {
	proxy  *Proxy
	permit permits
}

// pick chooses the proxy of the next attempt: a due one, when the exchange may
// carry a probe and it is time for one; else one in use, by weight; and when
// there is none left, again a due one, whoever may carry it.
func (x *Exchange) pick(now time.Time, lease time.Duration, mayProbe bool, events *[]Event) (grant, bool) {
	s := x.pool.current.Load()
	if mayProbe && len(x.attempts) == 0 {
		if g, ok := x.pickDue(s, now, lease, true, events); ok {
			return g, true
		}
	}
	if g, ok := x.draw(s, now, lease, events); ok {
		return g, true
	}
	if g, ok := x.pickFromList(s, now, lease, events); ok {
		return g, true
	}
	return x.pickDue(s, now, lease, false, events)
}

// draw tries the luck of the weights.
func (x *Exchange) draw(s *snapshot, now time.Time, lease time.Duration, events *[]Event) (grant, bool) {
	for range drawLimit {
		i := s.draw.draw()
		if i < 0 {
			return grant{}, false
		}
		m := s.proxies[i]
		if m.breaker.Resting() || x.excludes(s, m) {
			continue
		}
		if f := m.breaker.Factor(now); f < 1 && rand.Float64() >= f {
			continue
		}
		if g, ok := x.acquire(m, now, lease, events); ok {
			return g, true
		}
	}
	return grant{}, false
}

// pickFromList draws among the members that are in, by going through all.
func (x *Exchange) pickFromList(s *snapshot, now time.Time, lease time.Duration, events *[]Event) (grant, bool) {
	var in []*Proxy
	var weights []float64
	var total float64
	if x.pool.closed.Load() > 0 {
		for _, m := range s.proxies {
			if m.Spec.Weight > 0 && !m.breaker.Resting() && !x.excludes(s, m) {
				w := m.Spec.Weight * m.breaker.Factor(now)
				in, weights, total = append(in, m), append(weights, w), total+w
			}
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
func (x *Exchange) pickDue(s *snapshot, now time.Time, lease time.Duration, shared bool, events *[]Event) (grant, bool) {
	p := x.pool
	for _, m := range p.resting.due(now) {
		if s.byID[m.ID] != m || x.excludes(s, m) {
			continue
		}
		if p.probes.TokensAt(now) < 1 || shared && p.probeShare.Tokens(now) < 1 {
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

// excludes says whether the exchange must not use the member: it is paused,
// banned for the target, too many of its attempts are overdue, or the exchange has tried it
// already. A rotating proxy, or the only one there is, may come again, for a new
// connection may leave elsewhere; but not when it could not even be connected.
func (x *Exchange) excludes(s *snapshot, m *Proxy) bool {
	if m.paused.Load() != nil || int(m.overdue.Load()) >= overdueLimit || slices.Contains(x.banned, m.runtime) {
		return true
	}
	again := m.Spec.Rotating || s.candidates == 1
	for i := range x.attempts {
		if a := &x.attempts[i]; a.Proxy.ID == m.ID && (!again || a.Signal.dial()) {
			return true
		}
	}
	return false
}

// acquire asks the member's breaker, and before it that of its segment. A
// refusal can have an effect too: it may find that a probe got lost.
func (x *Exchange) acquire(m *Proxy, now time.Time, lease time.Duration, events *[]Event) (grant, bool) {
	p := x.pool
	var held permits
	if m.segment != nil {
		permit, ok := x.acquireSegment(m, now, lease, events)
		if !ok {
			return grant{}, false
		}
		held.segment = permit
	}
	permit, effect, ok := m.breaker.Acquire(now, lease)
	p.note(m, effect, Event{Request: x.id}, now, events)
	held.own = permit
	if !ok {
		p.settleSegment(m, held.segment, breaker.Verdict{Outcome: breaker.Ignored}, Event{}, now, events)
		return grant{}, false
	}
	if held.probe() {
		p.probes.AllowN(now, 1)
	}
	if m.segment != nil {
		p.segments.note(m.segment)
	}
	return grant{m, held}, true
}

// acquireSegment asks the breaker of the member's segment. While the segment
// rests, its members' picks go elsewhere; when the rest is over, some of them
// test it.
func (x *Exchange) acquireSegment(m *Proxy, now time.Time, lease time.Duration, events *[]Event) (breaker.Permit, bool) {
	g := &x.pool.segments
	rests := m.segment.breaker.Resting()
	if g.full(m.segment) {
		return breaker.Permit{}, false
	}
	if !rests || x.pool.probes.TokensAt(now) >= 1 {
		permit, effect, ok := m.segment.breaker.Acquire(now, lease)
		x.pool.noteSegment(m, effect, Event{Request: x.id}, events)
		if ok {
			return permit, true
		}
	}
	g.moved.Add(1)
	return breaker.Permit{}, false
}
