package pool

import (
	"sync/atomic"
	"time"

	"swivel/breaker"
)

// settle gives a verdict to a proxy's breaker, and keeps what the verdict means
// for the proxy's credit and for the guard against local outages. It returns
// the outcome that was counted.
func (p *Pool) settle(m *Proxy, permit permits, v breaker.Verdict, ev Event, now time.Time, events *[]Event) breaker.Outcome {
	if m == p.direct {
		return v.Outcome
	}
	if v.Outcome == breaker.Failure && p.outage.covers(ev.began) {
		v.Outcome = breaker.Ignored
	}
	v.Alone = p.alone(m)
	p.count(ev, v.Outcome)
	p.note(m, m.breaker.Load().Report(permit.own, v, now), ev, now, events)
	p.settleSegment(m, permit.segment, v, ev, now, events)
	switch v.Outcome {
	case breaker.Success:
		if v.Latency > 0 {
			m.firstByte.add(v.Latency)
		}
		p.everyday.successes.Add(1)
		p.cleared(m.runtime, now)
	case breaker.Failure:
		m.marks.set(lastFailed)
		change := p.outage.failure(m.runtime, ev.Request, now, func(limit int) int { return p.working(now, limit) })
		*events = appendOutage(*events, change, ev.Request)
	case breaker.Refused:
		m.marks.set(lastFailed)
	}
	return v.Outcome
}

// cleared forgets what was held against a proxy that has just succeeded.
func (p *Pool) cleared(r *runtime, now time.Time) {
	r.lastSuccess.Store(now.UnixNano())
	r.marks.clear(lastFailed)
	if !r.marks.has(blemished) {
		return
	}
	p.blameMu.Lock()
	defer p.blameMu.Unlock()
	r.marks.clear(blemished)
	if r.charges != nil {
		*r.charges = charges{samples: r.charges.samples}
	}
}

// Settled returns how many attempts ran into which signal, by what that counted
// as. It is indexed by Signal and breaker.Outcome; a suspicion that nothing came
// of is ignored. Those of canaries are apart.
func (p *Pool) Settled() Counts { return p.settled.load() }

// SettledCanaries is Settled for the attempts of canaries.
func (p *Pool) SettledCanaries() Counts { return p.canaries.load() }

// Counts are numbers of attempts, by Signal and breaker.Outcome.
type Counts [signals][breaker.Ignored + 1]uint64

// tallies are Counts as they grow.
type tallies [signals][breaker.Ignored + 1]atomic.Uint64

func (t *tallies) load() (counts Counts) {
	for s := range counts {
		for o := range counts[s] {
			counts[s][o] = t[s][o].Load()
		}
	}
	return counts
}

func (p *Pool) count(ev Event, o breaker.Outcome) {
	of := &p.settled
	if ev.canary {
		of = &p.canaries
	}
	of[ev.Signal][o].Add(1)
}

// suspect reports a suspicion that no evidence came up for.
func (p *Pool) suspect(m *Proxy, permit permits, ev Event, now time.Time, events *[]Event) {
	if m == p.direct {
		return
	}
	p.count(ev, breaker.Ignored)
	v := breaker.Verdict{Outcome: breaker.Failure, Suspected: true, Alone: p.alone(m)}
	if p.outage.covers(ev.began) {
		v = breaker.Verdict{Outcome: breaker.Ignored}
	}
	p.note(m, m.breaker.Load().Report(permit.own, v, now), ev, now, events)
	p.settleSegment(m, permit.segment, v, ev, now, events)
}

// note turns what a breaker did into an event, and keeps account of who is
// usable and of when the others may be tried.
func (p *Pool) note(m *Proxy, e breaker.Effect, ev Event, now time.Time, events *[]Event) {
	if e.Moved || m.breaker.Load().Resting() {
		p.refresh(m, now)
	}
	if e.Changed {
		ev.Proxy, ev.Effect = m, e
		*events = append(*events, ev)
	}
}

// refresh takes note of whether the proxy is usable now, and of when it may be
// tried if it rests.
func (p *Pool) refresh(m *Proxy, now time.Time) {
	for s := (*snapshot)(nil); s != p.current.Load(); { // once more if a reload came between
		s = p.current.Load()
		member, in := s.refresh(m)
		if !in {
			p.resting.remove(m)
			continue
		}
		if member.usable() {
			p.Free()
		}
		p.resting.update(member, now)
	}
}

// alone says whether no other member could serve in m's place.
func (p *Pool) alone(m *Proxy) bool {
	others := p.current.Load().all.usable.Load()
	if m.Spec.Weight > 0 && m.usable() {
		others--
	}
	return others <= 0
}

// candidates is how many members there are that can be picked at all.
func (p *Pool) candidates() int { return len(p.current.Load().all.members) }

// working counts the members that succeeded lately, up to a limit.
func (p *Pool) working(now time.Time, limit int) int {
	n := 0
	for _, m := range p.Proxies() {
		if m.workedLately(now) {
			if n++; n == limit {
				break
			}
		}
	}
	return n
}
