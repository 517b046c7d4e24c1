package fleet

import (
	"maps"
	"slices"
	"time"

	"swivel/breaker"
	"swivel/storage"
)

// hear takes what the fleet knows of a proxy.
func (b *book) hear(k storage.Known, now time.Time) {
	standing, edition, _, ok := b.members.Standing(k.ProxyID, now)
	if !ok {
		return
	}
	e := b.of(k.ProxyID)
	queued := e.queued
	e.success = max(e.success, k.LastSuccess)
	if b.stand(k.ProxyID, e, standing, edition) {
		b.note(k.ProxyID)
	}
	switch order := k.Compare(e.known); {
	case order < 0 && !(e.untold && alike(k, e.known)):
		e.untold = true // it has not heard of the own standing yet
		b.note(k.ProxyID)
		return
	case order != 0:
		adopted, ok := b.members.Adopt(k.ProxyID, b.standing(k), edition, now)
		if !ok { // the breaker has changed this very moment
			b.note(k.ProxyID)
			return
		}
		e.stood, e.edition, e.known, e.misses, e.told, e.tellAt, e.used = true, adopted, k.Alone(), nil, nil, time.Time{}, false
		b.learnt++
	}
	e.untold, e.against = false, len(k.Failures)+len(e.misses) > 0
	others := b.others(e, k)
	if len(others.Failures) > 0 {
		b.learnt++
	}
	used := e.used || queued
	b.members.Learn(k.ProxyID, others, now)
	b.opened(k.ProxyID, e, used, now)
	if len(k.Failures) > 0 || slices.ContainsFunc(k.Window, func(c storage.Count) bool { return c.Failures > 0 }) {
		b.join(k.ProxyID, e, now)
	}
}

// opened looks whether what was heard has opened the breaker. All others hear it too
// and open theirs, each for a rest of its own: who has used the proxy itself, and may
// know more than the others, tells at once; these take that over, or tell in turn when
// they have heard all there is, and nothing of this.
func (b *book) opened(id string, e *entry, used bool, now time.Time) {
	s, edition, _, ok := b.members.Standing(id, now)
	if !ok || !b.stand(id, e, s, edition) {
		return
	}
	if !used {
		e.tellAt = now.Add(othersTell + time.Duration(b.random.Int64N(int64(othersTell))))
	}
	b.note(id) // to be reminded of it, if it is not told
}

// othersTell is how long an instance waits for others to tell what all found out.
const othersTell = 5 * time.Second

// alike says whether two standings are one that two instances found at the same
// time, each with a rest that chance has made longer, or that one of them has from
// its database.
func alike(a, b storage.Known) bool {
	near := func(x, y, off storage.Moment) bool { return max(x-y, y-x) <= off }
	return a.State == b.State && a.Cause == b.Cause && a.OpensInRow == b.OpensInRow &&
		near(a.Stamp, b.Stamp, storage.Moment((2*othersTell).Microseconds())) && near(a.Until, b.Until, max(b.Until-b.Stamp, 0)/5+1_000_000)
}

// join has own successes told of a proxy that fails elsewhere.
func (b *book) join(id string, e *entry, now time.Time) {
	if !e.waits {
		e.waits = true
		b.joined = append(b.joined, id)
	}
}

// others is what the fleet knows without what it has from here.
func (b *book) others(e *entry, k storage.Known) breaker.Others {
	o := breaker.Others{LastSuccess: b.clock.time(k.LastSuccess), Succeeded: k.Succeeded}
	for _, m := range k.Failures {
		if m.By != b.me {
			o.Failures = append(o.Failures, b.clock.time(m.At))
		}
	}
	for _, c := range k.Window {
		own := e.told[c.At]
		t := breaker.Tally{At: b.clock.time(c.At), Successes: max(0, c.Successes-own.Successes), Failures: max(0, c.Failures-own.Failures)}
		if t.Successes+t.Failures > 0 {
			o.Window = append(o.Window, t)
		}
	}
	if len(k.Window) > 0 {
		maps.DeleteFunc(e.told, func(at storage.Moment, _ storage.Count) bool { return at < k.Window[0].At })
	}
	return o
}

func (b *book) standing(k storage.Known) breaker.Standing {
	state, _ := breaker.ParseState(k.State) // closed if it makes no sense
	rule, _ := breaker.ParseRule(k.Cause)
	return breaker.Standing{
		State: state, At: b.clock.time(k.Stamp), Until: b.clock.time(k.Until), Rule: rule,
		OpensInRow: k.OpensInRow, ProbeWins: k.ProbeWins,
	}
}
