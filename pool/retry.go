package pool

import "time"

// soon is the longest that a client is told to wait: it should look again in
// time for what an operator or a reload may change.
const soon = time.Minute

// RetryAfter says how long until some member may be picked again: zero when
// one can be now, at most a minute.
func (p *Pool) RetryAfter(now time.Time) time.Duration {
	return p.current.Load().all.retryAfter(now)
}

// RetryAfter is the same for what this exchange may have: members that meet its
// constraints, or the one proxy of a strict session.
func (x *Exchange) RetryAfter(now time.Time) time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, v := x.view()
	if x.Sticky() {
		y := &x.asked.sticky
		if m, listed := s.get(y.home); listed && y.strict {
			return m.retryAfter(now)
		}
	}
	return v.retryAfter(now)
}

// Unmatched says that no member at all meets what the exchange asks for: to wait
// is no use.
func (x *Exchange) Unmatched() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, v := x.view()
	return x.asked != nil && len(v.members) == 0
}

// few members are asked one by one each time; what is known of more is good for
// a while. With all of 100,000 resting, every client that is told so would else
// cost 45 ms.
const (
	few       = 256
	goodWhile = time.Second
)

// wait is when some member of a view may be picked again, as it was found at a
// moment.
type wait struct{ found, over time.Time }

func (v *view) retryAfter(now time.Time) time.Duration {
	if len(v.members) > few {
		known := v.known.Load()
		if known != nil && now.Before(known.over) && now.Sub(known.found) < goodWhile {
			return known.over.Sub(now)
		}
		soonest := v.ask(now)
		v.known.Store(&wait{now, now.Add(soonest)})
		return soonest
	}
	return v.ask(now)
}

// ask goes through the members.
func (v *view) ask(now time.Time) time.Duration {
	soonest := soon
	for _, m := range v.members {
		if soonest = min(soonest, m.retryAfter(now)); soonest == 0 {
			break
		}
	}
	return soonest
}

// retryAfter is how long until the proxy may be picked again, if nothing else
// happens.
func (m *Proxy) retryAfter(now time.Time) time.Duration {
	if m.paused.Load() != nil {
		return soon
	}
	return min(soon, max(m.breaker.Load().RetryAfter(now), m.roomAfter(now)))
}
