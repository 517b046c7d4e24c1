package pool

import (
	"time"

	"swivel/breaker"
)

// What an attempt in doubt says about its proxy is decided by what else is
// known, not by a guess:
//
//  1. The target is reached through another proxy afterwards, in the same
//     exchange or within ten seconds in any: the proxies that could not have
//     failed. Only a target that is known to drop connections itself is taken
//     into account then.
//  2. Three credible proxies could not reach the target since it was last
//     reached, and that is no accident with this target: it is down. Nobody is
//     blamed, and the target rests.
//  3. The proxy could not reach three different targets since its last success:
//     it has failed.
//  4. Else the suspicion lapses, and only many in a row count.
//
// For 3 and 4 only targets count that some proxy reached within the hour: a
// batch of dead names proves nothing. Unless so many doubts in a row, on
// whatever targets, would come once in a thousand times to a proxy that does
// like the others meanwhile: a crawl that visits every target once has no other
// evidence.

// targetUp is rule 1: the proxy reached the target. x.mu is held.
func (x *Exchange) targetUp(by *Proxy, now time.Time, events *[]Event) {
	p := x.pool
	p.memory.noteReached(x.target, now)
	*events = appendOutage(*events, p.outage.success(now), x.id)
	for _, l := range x.late {
		x.countOverdue(l, now)
	}
	if len(x.pending) == 0 && !p.memory.mayBeTroubled(x.target) {
		return
	}
	guilty, waited := p.convict(x, by, now)
	for i, l := range x.pending {
		v := breaker.Verdict{Outcome: breaker.Ignored}
		if guilty[i] {
			v.Outcome = breaker.Failure
		}
		x.settle(l, v, now, events)
	}
	x.pending = x.pending[:0]
	for _, s := range waited {
		p.settle(s.proxy, s.permit, breaker.Verdict{Outcome: breaker.Failure}, s.event, now, events)
	}
}

// convict says which of the exchange's attempts in doubt have failed, and takes
// out the suspicions of other exchanges that have proved true.
func (p *Pool) convict(x *Exchange, by *Proxy, now time.Time) (guilty []bool, waited []*suspicion) {
	p.blameMu.Lock()
	defer p.blameMu.Unlock()
	t := p.memory.find(x.target)
	if len(x.pending) > 0 {
		t = p.memory.trouble(x.target, x.name, now)
	}
	if t == nil {
		return nil, nil
	}
	for _, l := range x.pending {
		t.note(l.Proxy.runtime, true)
	}
	t.note(by.runtime, false)
	if t.down() {
		p.troubles.Add(1)
	}
	t.reached()
	for _, l := range x.pending {
		guilty = append(guilty, t.convicts(l.Proxy.runtime))
	}
	for _, s := range p.waiting.take(x.target) {
		if s.proxy.ID != by.ID && t.convicts(s.proxy.runtime) && now.Sub(s.at) < verdictWithin {
			waited = append(waited, s)
		}
	}
	return guilty, waited
}

// judgeIfOver judges what is in doubt once nothing more can come. x.mu is held.
func (x *Exchange) judgeIfOver(now time.Time, events *[]Event) {
	if !x.ended || x.running > 0 || x.judged {
		return
	}
	x.judged = true
	if len(x.pending) == 0 {
		return
	}
	p := x.pool
	p.blameMu.Lock()
	down := p.judgeTarget(x, now)
	for _, l := range x.pending {
		if !down && !l.Probe {
			p.waiting.add(&suspicion{proxy: l.Proxy, permit: l.permit, target: x.target, at: now,
				event: x.event(l)})
		}
	}
	if p.waiting.tooMany() {
		p.nextLapse.Store(0)
	}
	p.blameMu.Unlock()
	for _, l := range x.pending {
		x.judgeLeft(l, down, now, events)
	}
	x.pending = x.pending[:0]
}

// judgeLeft settles what does not wait: all that failed on a target that is
// down, and probes, whose slot others wait for.
func (x *Exchange) judgeLeft(l *Lease, down bool, now time.Time, events *[]Event) {
	l.settled = true
	switch {
	case down:
		x.settle(l, breaker.Verdict{Outcome: breaker.Ignored}, now, events)
	case l.Probe:
		x.pool.suspect(l.Proxy, l.permit, x.event(l), now, events)
	}
}

// justReached is how long ago a target was reached that a small pool does not
// take for dead.
const justReached = 5 * time.Second

// judgeTarget is rule 2. It notes what the exchange found and says whether the
// target is down. blameMu is held.
func (p *Pool) judgeTarget(x *Exchange, now time.Time) bool {
	p.memory.forgetQuiet(now.Add(-reachedWithin))
	t := p.memory.trouble(x.target, x.name, now)
	wasDown := t.down()
	for _, l := range x.pending {
		r := l.Proxy.runtime
		t.note(r, true)
		if r.credible(x.target) {
			t.suspect(r)
		}
		r.charge().doubted.add(x.target)
		p.everyday.doubt(&r.charge().doubts)
		r.marks.set(blemished)
	}
	if !wasDown && !t.isDown(p.candidates(), p.memory.reachedSince(x.target, now.Add(-justReached), now)) {
		return false
	}
	t.takeDown(p.options.TargetRest, p.options.MaxTargetRest, now)
	p.troubles.Add(1)
	p.waiting.take(x.target) // nobody is to blame for it
	return true
}

// targetWait says how long the target still rests. When the rest is over one
// exchange may try, and the others wait for what it finds.
func (p *Pool) targetWait(k targetKey, now time.Time) time.Duration {
	if !p.memory.mayBeTroubled(k) {
		return 0
	}
	p.blameMu.Lock()
	defer p.blameMu.Unlock()
	t := p.memory.find(k)
	if t == nil || !t.down() {
		return 0
	}
	if wait := t.downUntil.Sub(now); wait > 0 {
		return wait
	}
	t.downUntil = now.Add(t.rest)
	p.troubles.Add(1)
	return 0
}

// lapse is rules 3 and 4, for suspicions whose time is up.
func (p *Pool) lapse(now time.Time) (events []Event) {
	if p.nextLapse.Load() > now.UnixNano() {
		return nil
	}
	p.blameMu.Lock()
	due := p.waiting.due(now)
	pattern, alone := make([]bool, len(due)), make([]bool, len(due))
	for i, s := range due {
		held := s.proxy.charged()
		pattern[i] = held.doubted.full()
		alone[i] = p.everyday.unlikely(held.doubts)
	}
	p.nextLapse.Store(p.waiting.next(now).UnixNano())
	p.blameMu.Unlock()
	for i, s := range due {
		switch {
		case alone[i]:
			p.settle(s.proxy, s.permit, breaker.Verdict{Outcome: breaker.Failure}, s.event, now, &events)
		case !p.memory.reachedLately(s.target, now):
		case pattern[i]:
			p.settle(s.proxy, s.permit, breaker.Verdict{Outcome: breaker.Failure}, s.event, now, &events)
		default:
			p.suspect(s.proxy, s.permit, s.event, now, &events)
		}
	}
	return events
}
