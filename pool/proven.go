package pool

import "time"

// NextProven leases a proxy that this exchange has not tried, that has served
// somebody lately, and that has not failed since; false when there is none, or the
// exchange belongs to a session, which has a proxy of its own. Who serves most is
// most likely to be chosen. It is for the last attempt of an exchange: all but that
// one may find out what a proxy is worth. Otherwise it is like Next.
func (x *Exchange) NextProven(now time.Time, leaseTime time.Duration) (*Lease, []Event, bool) {
	if x.Sticky() {
		return nil, nil, false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	var events []Event
	s, v := x.view()
	for id := range x.pool.served.by() {
		m, in := s.get(id)
		if !in || !s.holds(m, v) || !x.proven(v, m, now) {
			continue
		}
		if g, ok := x.acquire(m, now, leaseTime, &events); ok {
			return x.lease(g, now), events, true
		}
	}
	return nil, events, false
}

// HasServed says whether an attempt through the proxy has succeeded since the pool
// was made.
func (p *Proxy) HasServed() bool { return p.lastSuccess.Load() != 0 }

func (x *Exchange) proven(v *view, m *Proxy, now time.Time) bool {
	return m.usable() && !m.marks.has(lastFailed) && x.skip(v, m, now) == InUse && !x.hasTried(m, len(x.attempts))
}
