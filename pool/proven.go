package pool

import "time"

// NextProven leases a proxy that this exchange has not tried, that has served
// somebody lately, and that has not failed since; false when there is none, or the
// exchange belongs to a session, which has a proxy of its own. Who serves most is
// most likely to be chosen. It is for the attempts that are not to find out what a
// proxy is worth. Otherwise it is like Next.
func (x *Exchange) NextProven(now time.Time, leaseTime time.Duration) (*Lease, []Event, bool) {
	if x.Sticky() {
		return nil, nil, false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	var events []Event
	g, ok := x.pickProven(now, leaseTime, &events)
	if !ok {
		return nil, events, false
	}
	return x.lease(g, now), events, true
}

func (x *Exchange) pickProven(now time.Time, lease time.Duration, events *[]Event) (grant, bool) {
	fits := func(r *runtime) bool { return r.proven() && !x.hasTried(r, len(x.attempts)) }
	s, v := x.view()
	for id := range x.pool.served.by() {
		m, in := s.get(id)
		if !in || !s.holds(m, v) || !fits(m.runtime) || x.skip(v, m, now) != InUse {
			continue
		}
		if g, ok := x.acquire(m, now, lease, events); ok {
			return g, true
		}
	}
	if v == s.all {
		return grant{}, false
	}
	return x.pickAmong(v, fits, now, lease, events) // others may be asked for more than those that will do here
}

// proven says whether the proxy may be drawn, has served somebody, and has not
// failed since.
func (r *runtime) proven() bool {
	return r.usable() && r.lastSuccess.Load() != 0 && !r.marks.has(lastFailed)
}

// HasServed says whether an attempt through the proxy has succeeded since the pool
// was made.
func (p *Proxy) HasServed() bool { return p.lastSuccess.Load() != 0 }
