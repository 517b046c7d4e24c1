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

// grant is what a pick found.
type grant struct {
	proxy  *Proxy
	permit breaker.Permit
}

// pick draws a proxy that x has not tried, and that its breaker lets through.
func (x *Exchange) pick(now time.Time, lease time.Duration, events *[]Event) (grant, bool) {
	s := x.pool.current.Load()
	for range drawLimit {
		i := s.draw.draw()
		if i < 0 {
			return grant{}, false
		}
		m := s.proxies[i]
		if !m.breaker.Ready(now) || x.excludes(s, m) {
			continue
		}
		if g, ok := x.acquire(m, now, lease, events); ok {
			return g, true
		}
	}
	return x.pickFromList(s, now, lease, events)
}

// pickFromList draws among the members that are in, by going through all.
func (x *Exchange) pickFromList(s *snapshot, now time.Time, lease time.Duration, events *[]Event) (grant, bool) {
	var in []*Proxy
	var total float64
	for _, m := range s.proxies {
		if m.Spec.Weight > 0 && m.breaker.Ready(now) && !x.excludes(s, m) {
			in = append(in, m)
			total += m.Spec.Weight
		}
	}
	for len(in) > 0 {
		i := drawWeighted(in, total)
		if g, ok := x.acquire(in[i], now, lease, events); ok {
			return g, true
		}
		total -= in[i].Spec.Weight
		in[i] = in[len(in)-1]
		in = in[:len(in)-1]
	}
	return grant{}, false
}

func drawWeighted(in []*Proxy, total float64) int {
	r := rand.Float64() * total
	for i, m := range in {
		if r -= m.Spec.Weight; r < 0 {
			return i
		}
	}
	return len(in) - 1
}

// excludes says whether the exchange must not use the member: it is banned for
// the target, too many of its attempts are overdue, or the exchange has tried it
// already. A rotating proxy, or the only one there is, may come again: a new
// connection may leave elsewhere.
func (x *Exchange) excludes(s *snapshot, m *Proxy) bool {
	if int(m.overdue.Load()) >= x.pool.options.Breaker.ConsecutiveFailures || slices.Contains(x.banned, m.runtime) {
		return true
	}
	if m.Spec.Rotating || s.candidates == 1 {
		return false
	}
	for i := range x.attempts {
		if x.attempts[i].Proxy.ID == m.ID {
			return true
		}
	}
	return false
}

// acquire asks the member's breaker; a resting one also needs a probe token.
// A refusal can have an effect too: it may find that a probe got lost.
func (x *Exchange) acquire(m *Proxy, now time.Time, lease time.Duration, events *[]Event) (grant, bool) {
	probes := x.pool.probes
	if m.breaker.Resting() && probes.TokensAt(now) < 1 {
		return grant{}, false
	}
	permit, effect, ok := m.breaker.Acquire(now, lease)
	x.pool.note(m, effect, Event{Request: x.id}, events)
	if ok && permit.Probe() {
		probes.AllowN(now, 1)
	}
	return grant{m, permit}, ok
}
