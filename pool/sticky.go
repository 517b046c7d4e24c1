package pool

import (
	"time"

	"swivel/pool/route"
)

// sticky is the session of an exchange, as it finds its proxy. The zero value is
// none.
type sticky struct {
	id     SessionID
	ttl    time.Duration
	strict bool

	home ID   // whose it was when the last attempt was leased; "" if it had none
	left Skip // why the exchange did without it
}

// hashedLimit is how many proxies a session looks at in its own order, before it
// takes any.
const hashedLimit = 64

// pickSticky finds the proxy of an exchange that belongs to a session. It is the
// one that the session has, as long as that can serve. If it cannot, a strict
// session waits for it; another one goes on to the next proxy of an order that
// only it has, and stays there.
func (x *Exchange) pickSticky(s *snapshot, v *view, now time.Time, lease time.Duration, events *[]Event) (grant, bool) {
	y := &x.asked.sticky
	y.home = x.pool.sessions.home(y.id, y.ttl, now)
	if y.home != "" {
		m, skip := x.resident(s, v, now)
		if skip == InUse {
			if g, ok := x.acquire(m, now, lease, events); ok {
				return g, true
			}
			skip = Open
		}
		y.left = skip
		// To be full is over in a moment, and no reason to change what the
		// target knows the client by.
		if y.strict || skip == Full || skip == OverRate {
			return grant{}, false
		}
	}
	for i := range hashedLimit {
		m := v.hashed(y.id.hash(i))
		if m == nil || v.usable.Load() == 0 {
			break
		}
		if m.usable() && x.skip(v, m, now) == InUse {
			if g, ok := x.acquire(m, now, lease, events); ok {
				return g, true
			}
		}
	}
	return x.pickAny(s, v, now, lease, events)
}

// resident returns the proxy that the session has, and whether it can serve the
// exchange. A strict session may have it tested when its rest is over: no other
// will do.
func (x *Exchange) resident(s *snapshot, v *view, now time.Time) (*Proxy, Skip) {
	place, listed := s.place(x.asked.sticky.home)
	if !listed || !v.has(place) {
		return nil, Gone
	}
	m := s.proxies[place]
	switch {
	case m.paused.Load() != nil:
		return nil, Paused
	case m.Overdue() && v.usable.Load() > 0: // else see pickSuspended
		return nil, Overdue
	case m.breaker.Load().Resting() && !(x.asked.sticky.strict && x.mayProbe(m, now)):
		return nil, Open
	case x.banLeft(m, now) > 0:
		return nil, Banned
	case !x.mayStay(m):
		return nil, Tried
	}
	return m, m.room(now)
}

func (x *Exchange) mayProbe(m *Proxy, now time.Time) bool {
	return m.breaker.Load().Ready(now) && x.pool.probes.Tokens(now) >= 1
}

// mayStay says whether the session's own proxy is worth an attempt, after those
// that failed. One broken connection is no reason to move: it is tried once
// more, unless it could not be connected or took all its time.
func (x *Exchange) mayStay(m *Proxy) bool {
	tried := 0
	for i := range x.attempts {
		a := &x.attempts[i]
		if a.Proxy.runtime != m.runtime {
			continue
		}
		if tried++; !x.asked.sticky.strict && (tried > 1 || a.Signal.dial() || a.Signal.Timeout() || a.Signal == NoSignal) {
			return false
		}
	}
	return true
}

// Sticky says whether the exchange belongs to a session.
func (x *Exchange) Sticky() bool { return x.asked != nil && x.asked.sticky.id != SessionID{} }

// AtHome says whether the exchange may have one proxy only: that of its strict
// session, which has one.
func (x *Exchange) AtHome() bool {
	if !x.Sticky() {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.asked.sticky.strict && x.asked.sticky.home != ""
}

// bound says that the exchange may have one proxy only, that of its strict
// session, and returns it; nil if it has left the lists. x.mu is held.
func (x *Exchange) bound(s *snapshot, v *view) (home *Proxy, bound bool) {
	if !x.Sticky() || !x.asked.sticky.strict || x.asked.sticky.home == "" {
		return nil, false
	}
	if place, listed := s.place(x.asked.sticky.home); listed && v.has(place) {
		home = s.proxies[place]
	}
	return home, true
}

// Constrained says whether the exchange may have only proxies of some kind.
func (x *Exchange) Constrained() bool {
	return x.asked != nil && x.asked.constraints != route.Constraints{}
}

// Won says that the lease's proxy serves the exchange. Its session, if it has
// one, stays with that proxy from now on.
func (x *Exchange) Won(l *Lease, now time.Time) {
	if x.Sticky() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.pool.sessions.settle(x.asked.sticky.id, l.home, l.Proxy.ID, x.asked.sticky.ttl, now)
	}
}

// Moved is why the session of the exchange left its proxy for this one; "" if it
// did not. It is one of the words of Skip.
func (l *Lease) Moved() string {
	if l.home == "" || l.home == l.Proxy.ID {
		return ""
	}
	return l.left.String()
}

// Aside leases a resting proxy that is due for a test, apart from the attempts
// that are to serve the exchange; false when there is none, or no time for one. A
// canary takes as many as the rate of probes allows.
func (x *Exchange) Aside(now time.Time, leaseTime time.Duration) (*Lease, []Event, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.canary && x.pool.apart.Load() {
		return nil, nil, false
	}
	var events []Event
	s, v := x.view()
	g, ok := x.pickDue(s, v, now, leaseTime, !x.canary, &events)
	if !ok {
		return nil, events, false
	}
	return x.lease(g, now), events, true
}
