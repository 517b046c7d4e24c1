package pool

import (
	"time"

	"swivel/breaker"
)

// Share returns what the proxy's breaker has to say to other instances that use
// the same proxy; see [breaker.Breaker.Share]. ok is false if there is no such
// proxy.
func (p *Pool) Share(id ID, now time.Time) (s breaker.Share, ok bool) {
	m, ok := p.Get(id)
	if !ok {
		return s, false
	}
	return m.breaker.Load().Share(now), true
}

// Learn has the proxy's breaker take into account what other instances saw.
func (p *Pool) Learn(id ID, o breaker.Others, now time.Time) (events []Event) {
	if m, ok := p.Get(id); ok {
		p.note(m, m.breaker.Load().Learn(o, p.alone(m), now), Event{Fleet: true}, now, &events)
	}
	return events
}

// Adopt has the proxy's breaker stand where that of another instance stands; see
// [breaker.Breaker.Adopt].
func (p *Pool) Adopt(id ID, s breaker.Standing, edition uint32, now time.Time) (adopted uint32, ok bool, events []Event) {
	m, ok := p.Get(id)
	if !ok {
		return 0, false, nil
	}
	effect, adopted, ok := m.breaker.Load().Adopt(s, edition, now)
	p.note(m, effect, Event{Fleet: true}, now, &events)
	return adopted, ok, events
}

// LearnPin takes over which proxy a session has elsewhere. It is no use of the
// session.
func (p *Pool) LearnPin(one Pin, now time.Time) {
	g := p.sessions
	g.mu.Lock()
	defer g.mu.Unlock()
	one.LastUse = now.Add(-max(0, now.Sub(one.LastUse))) // the clock there may be ahead
	if now.Sub(one.LastUse) > one.TTL {
		return
	}
	e, known := g.by[one.Session]
	if !known {
		g.add(one)
		e = g.by[one.Session]
	}
	have := e.Value.(*pin)
	if have.Proxy != one.Proxy || !known {
		have.Proxy, have.learnt = one.Proxy, true
		g.dirty[one.Session] = struct{}{}
		g.ring()
	}
	if one.LastUse.After(have.LastUse) {
		have.LastUse = one.LastUse
		g.recent.MoveToFront(e)
	}
}

// Pins returns where all sessions are, the latest used last.
func (p *Pool) Pins() (pins []Pin) {
	g := p.sessions
	g.mu.Lock()
	defer g.mu.Unlock()
	for e := g.recent.Back(); e != nil; e = e.Prev() {
		pins = append(pins, e.Value.(*pin).Pin)
	}
	return pins
}

// LearnBan keeps a proxy away from a target that refuses it elsewhere. A longer
// ban that is known already stays.
func (p *Pool) LearnBan(b Ban, now time.Time) {
	m, ok := p.Get(b.Proxy)
	left := min(b.Until.Sub(now), p.longestBan())
	if !ok || left <= 0 {
		return
	}
	p.blameMu.Lock()
	defer p.blameMu.Unlock()
	k := keyOf(b.Target)
	if t := p.memory.find(k); t != nil {
		for _, known := range t.bans {
			if known.id == m.ID && !known.until.Before(now.Add(left)) {
				return
			}
		}
	}
	p.ban(m, k, b.Target, left, now)
}

// LearnTargetRest leaves a target alone that is down elsewhere, as of a time,
// unless it was reached from here since then. A rest of 0 says that it was reached
// elsewhere.
func (p *Pool) LearnTargetRest(r TargetRest, asOf, now time.Time) {
	k := keyOf(r.Target)
	p.blameMu.Lock()
	defer p.blameMu.Unlock()
	if r.Rest <= 0 {
		if t := p.memory.find(k); t != nil && t.down() {
			t.reached()
			p.troubles.Add(1)
		}
		return
	}
	rest := min(r.Rest, p.options.MaxTargetRest)
	until := now.Add(min(r.Until.Sub(now), rest))
	if !until.After(now) || p.memory.reachedSince(k, asOf, now) {
		return
	}
	if t := p.memory.trouble(k, r.Target, now); t.downUntil.Before(until) {
		t.rest, t.downUntil = rest, until
		p.troubles.Add(1)
	}
}
