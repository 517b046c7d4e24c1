package pool

import (
	"time"

	"swivel/breaker"
)

// grant is what a pick found.
type grant struct {
	proxy  *Proxy
	permit permits
}

// acquire takes the room for one use, and asks the breakers: that of the
// member's segment, and its own. A refusal can have an effect too: it may find
// that a probe got lost.
func (x *Exchange) acquire(m *Proxy, now time.Time, lease time.Duration, events *[]Event) (grant, bool) {
	if !m.enter(now) {
		return grant{}, false
	}
	held, ok := x.permits(m, now, lease, events)
	if !ok {
		m.inFlight.Add(-1)
		return grant{}, false
	}
	p := x.pool
	if held.probe() {
		p.probes.Take(now)
	}
	if m.segment != nil {
		p.segments.note(m.segment)
	}
	return grant{m, held}, true
}

// permits asks the breakers.
func (x *Exchange) permits(m *Proxy, now time.Time, lease time.Duration, events *[]Event) (held permits, granted bool) {
	p := x.pool
	if !p.mayTest(m, now) {
		return held, false
	}
	if m.segment != nil {
		if held.segment, granted = x.acquireSegment(m, now, lease, events); !granted {
			p.skipped[InSegment].Add(1)
			return held, false
		}
	}
	var effect breaker.Effect
	held.own, effect, granted = m.breaker.Load().Acquire(now, lease)
	if effect.Changed || !granted || held.own.Probe() { // else there is nothing to note
		p.note(m, effect, Event{Request: x.id}, now, events)
	}
	if !granted {
		p.settleSegment(m, held.segment, breaker.Verdict{Outcome: breaker.Ignored}, Event{}, now, events)
	}
	return held, granted
}

// acquireSegment asks the breaker of the member's segment. While the segment
// rests, its members' picks go elsewhere; when the rest is over, some of them
// test it.
func (x *Exchange) acquireSegment(m *Proxy, now time.Time, lease time.Duration, events *[]Event) (breaker.Permit, bool) {
	g := &x.pool.segments
	rests := m.segment.breaker.Resting()
	if g.full(m.segment) {
		x.redirect()
		return breaker.Permit{}, false
	}
	if !rests || x.pool.probes.Tokens(now) >= 1 {
		permit, effect, ok := m.segment.breaker.Acquire(now, lease)
		x.pool.noteSegment(m, effect, Event{Request: x.id}, events)
		if ok {
			return permit, true
		}
	}
	x.redirect()
	return breaker.Permit{}, false
}
