package pool

import (
	"time"

	"swivel/breaker"
)

// soon is the longest that a client is told to wait: it should look again in
// time for what an operator or a reload may change.
const soon = time.Minute

// RetryAfter says how long until some member may be picked again: zero when
// one can be now, at most a minute.
func (p *Pool) RetryAfter(now time.Time) time.Duration {
	return min(soon, p.current.Load().all.outlook(now).soonest)
}

// RetryAfter is the same for what this exchange may have: members that meet its
// constraints and are not banned from its target, or the one proxy of a strict
// session.
func (x *Exchange) RetryAfter(now time.Time) time.Duration {
	return min(soon, x.lookOut(now).soonest)
}

// Hopeless says that to wait for so long is no use: by then nobody whom the
// exchange may have can be picked, unless an operator resumes somebody.
func (x *Exchange) Hopeless(within time.Duration, now time.Time) bool {
	o := x.lookOut(now)
	return !o.anytime && o.soonest > within
}

// Unmatched says that no member at all meets what the exchange asks for, and
// names the routing keys for which there is none: to wait is no use.
func (x *Exchange) Unmatched() (keys []string, unmatched bool) {
	if !x.Constrained() {
		return nil, false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	_, v := x.view()
	return v.lacking, len(v.members) == 0
}

// never is longer than any rest.
const never = time.Duration(1 << 62)

// outlook is how long until somebody may be picked again, if nothing else
// happens.
type outlook struct {
	soonest time.Duration // 0: now; never: time alone does not change it
	anytime bool          // it may be sooner: somebody is paused and may be resumed, is full, or is being tested
}

// shortly is told where something may happen at any time.
const shortly = time.Second

func (o *outlook) add(one outlook) {
	o.soonest, o.anytime = min(o.soonest, one.soonest), o.anytime || one.anytime
}

// and is the outlook of who has to wait for one thing and for another.
func (o outlook) and(other outlook) outlook {
	return outlook{
		soonest: max(o.soonest, other.soonest),
		anytime: (o.anytime || o.soonest == 0) && (other.anytime || other.soonest == 0),
	}
}

func (x *Exchange) lookOut(now time.Time) outlook {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, v := x.view()
	return x.outlook(s, v, now)
}

// outlook is that of the members which the exchange may have. x.mu is held.
func (x *Exchange) outlook(s *snapshot, v *view, now time.Time) outlook {
	if home, bound := x.bound(s, v); bound {
		if home == nil {
			return outlook{soonest: never}
		}
		return x.outlookOf(home, now)
	}
	o := v.outlook(now)
	if len(x.banned) == 0 || o.soonest > 0 && len(v.members) > few { // the bans can only make it later
		return o
	}
	o = outlook{soonest: never}
	for _, m := range v.members {
		if o.add(x.outlookOf(m, now)); o.soonest == 0 {
			break
		}
	}
	return o
}

func (x *Exchange) outlookOf(m *Proxy, now time.Time) outlook {
	return m.outlook(now).and(outlook{soonest: x.banLeft(m, now)})
}

// few members are asked one by one each time; what is known of more is good for
// a while. With all of 100,000 resting, every client that is told so would else
// cost 10 ms.
const (
	few       = 256
	goodWhile = time.Second
)

// forecast is the outlook of a view, as it was found at a moment.
type forecast struct {
	outlook
	found time.Time
}

func (v *view) outlook(now time.Time) outlook {
	if len(v.members) <= few {
		return v.ask(now)
	}
	k := v.known.Load()
	if k != nil {
		passed := now.Sub(k.found)
		if passed < goodWhile && (passed < k.soonest || k.soonest == never) {
			o := k.outlook
			if o.soonest != never {
				o.soonest -= passed
			}
			return o
		}
	}
	o := v.ask(now)
	v.known.Store(&forecast{o, now})
	return o
}

// ask goes through the members.
func (v *view) ask(now time.Time) outlook {
	o := outlook{soonest: never}
	for _, m := range v.members {
		if o.add(m.outlook(now)); o.soonest == 0 {
			break
		}
	}
	return o
}

// outlook is how long until the proxy may be picked again.
func (m *Proxy) outlook(now time.Time) outlook {
	if m.paused.Load() != nil {
		return outlook{never, true}
	}
	o := outlook{m.roomAfter(now), m.room(now) == Full}.and(outlookOn(m.breaker.Load(), now))
	if m.segment != nil {
		o = o.and(outlookOn(m.segment.breaker, now))
	}
	return o
}

// outlookOn is how long until a breaker may grant a permit again. While it is being
// tested that is not the time the test may take at most, which is minutes.
func outlookOn(b *breaker.Breaker, now time.Time) outlook {
	rest := b.RetryAfter(now)
	if rest > shortly {
		if _, _, tested := b.Standing(now); tested {
			return outlook{shortly, true}
		}
	}
	return outlook{soonest: rest}
}
