package pool

import (
	"cmp"
	"slices"
	"time"
)

// Explanation says who would serve an exchange, and who would not and why.
type Explanation struct {
	// TargetRest is how long the target is still left alone because it is down;
	// 0: it is not.
	TargetRest time.Duration
	// LocalOutage: nothing is counted and little tried, because all proxies seem
	// to have failed at once.
	LocalOutage bool
	// Home is the proxy that the session has, "" if none or no session.
	Home ID
	// Chances are those of all members: first those that may be picked, the
	// likeliest first, then the others, the soonest first.
	Chances []Chance
	// RetryAfter is how long until somebody may be picked; 0: now, or Stuck.
	RetryAfter time.Duration
	// Stuck: nobody may be picked, and time alone does not change that.
	Stuck bool
	// Lacking are the routing keys that no proxy meets, if there is none for the
	// exchange at all.
	Lacking []string
}

// Chance is what a proxy has to do with one exchange.
type Chance struct {
	Proxy  *Proxy
	Skip   Skip
	Weight float64       // what it is picked by now: by list, slow start and health; 0 if it is not
	Share  float64       // of the picks, of exchanges like this one; of a session's: 1 for its proxy
	After  time.Duration // until Skip may be over, if time is all it takes; 0 otherwise
	Misses []string      // of a Mismatch, the routing keys that the proxy does not meet
}

// Explain says who would get an exchange that began now. Nothing is changed by
// it: no probe is given, no session is used.
func (p *Pool) Explain(r Request, now time.Time) Explanation {
	x := &Exchange{pool: p, target: keyOf(r.Target), name: r.Target, asked: p.asked(r)}
	x.banned = p.banned(x.target, now)
	e := Explanation{TargetRest: p.TargetRests(r.Target, now), LocalOutage: p.outage.on.Load()}
	s, v := x.view()
	if x.Sticky() {
		e.Home = p.sessions.peek(x.asked.sticky.id, now)
		x.asked.sticky.home = e.Home
	}
	total := 0.0
	for place := range s.proxies {
		c := x.chance(s, v, place, now)
		total += c.Weight
		e.Chances = append(e.Chances, c)
	}
	for i := range e.Chances {
		if total > 0 {
			e.Chances[i].Share = e.Chances[i].Weight / total
		}
	}
	slices.SortStableFunc(e.Chances, func(a, b Chance) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.waits(), b.waits()))
	})
	e.Lacking, _ = x.Unmatched()
	if total == 0 {
		soonest := x.outlook(s, v, now).soonest
		if e.Stuck = soonest == never; !e.Stuck {
			e.RetryAfter = soonest
		}
	}
	return e
}

// waits puts those first who may be picked soon, and those last who may never.
func (c Chance) waits() time.Duration {
	switch {
	case c.Skip == Full:
		return shortly
	case c.Skip != InUse && c.After == 0:
		return never
	}
	return c.After
}

// chance is that of the member at a place.
func (x *Exchange) chance(s *snapshot, v *view, place int, now time.Time) Chance {
	m := s.proxies[place]
	c := Chance{Proxy: m, Skip: x.why(s, v, place, now)}
	switch c.Skip {
	case InUse:
		if x.wouldTake(s, v, m, now) {
			c.Weight = m.Spec.Weight * m.breaker.Load().Factor(now)
		}
	case Open:
		c.After = m.breaker.Load().RetryAfter(now)
	case Mismatch:
		c.Misses = m.misses(x.asked.constraints)
	case OverRate:
		c.After = m.roomAfter(now)
	case Banned:
		c.After = x.banLeft(m, now)
	case InSegment:
		c.After = m.segment.breaker.RetryAfter(now)
	}
	return c
}

// wouldTake says whether a member that may be used would be: a session takes its
// own, and only one that is not strict another in its place.
func (x *Exchange) wouldTake(s *snapshot, v *view, m *Proxy, now time.Time) bool {
	if home, bound := x.bound(s, v); bound {
		return home == m
	}
	home, _ := s.get(x.asked.sticky.home)
	if home == nil || home == m {
		return true
	}
	_, skip := x.resident(s, v, now)
	return skip != InUse
}

// why says why the exchange does not get the member at a place, first what weighs
// most.
func (x *Exchange) why(s *snapshot, v *view, place int, now time.Time) Skip {
	m := s.proxies[place]
	pause := m.paused.Load()
	switch {
	case m.Spec.Weight == 0:
		return Drained
	case !v.has(place):
		return Mismatch
	case pause != nil && pause.Drain:
		return Drained
	case pause != nil:
		return Paused
	case m.breaker.Load().Resting():
		return Open
	case m.Overdue():
		return Overdue
	case m.segment != nil && (m.segment.breaker.Resting() || x.pool.segments.full(m.segment)):
		return InSegment
	}
	return x.skip(v, m, now)
}
