package pool

import "time"

// Ban is a proxy that is kept away from a target, in a form that can be stored.
type Ban struct {
	Proxy  ID
	Target string
	Until  time.Time
}

// TargetRest is a target that is left alone because it is down.
type TargetRest struct {
	Target string
	Until  time.Time
	Rest   time.Duration // how long this rest is; the next is twice as long
}

// TargetRests says how much longer the target is left alone because it is down, 0
// if it is not. Who asks takes nothing: the exchange that may try when a rest is
// over is still to be begun.
func (p *Pool) TargetRests(target string, now time.Time) time.Duration {
	k := keyOf(target)
	if !p.memory.mayBeTroubled(k) {
		return 0
	}
	p.blameMu.Lock()
	defer p.blameMu.Unlock()
	t := p.memory.find(k)
	if t == nil || !t.down() {
		return 0
	}
	return max(0, t.downUntil.Sub(now))
}

// Troubles counts the changes of bans and resting targets, so that a caller can
// tell whether there is something new to store.
func (p *Pool) Troubles() uint64 { return p.troubles.Load() }

// Targets returns the bans and the resting targets that are not over. Their times
// fit the wall clock as it is now.
func (p *Pool) Targets(now time.Time) (bans []Ban, rests []TargetRest) {
	p.blameMu.Lock()
	defer p.blameMu.Unlock()
	for e := p.memory.recent.Front(); e != nil; e = e.Next() {
		t := e.Value.(*target)
		for _, b := range t.bans {
			if b.until.After(now) {
				bans = append(bans, Ban{Proxy: b.id, Target: t.name, Until: now.Add(b.until.Sub(now)).Round(0)})
			}
		}
		if t.down() {
			rests = append(rests, TargetRest{Target: t.name, Until: now.Add(t.downUntil.Sub(now)).Round(0), Rest: t.rest})
		}
	}
	return bans, rests
}

// RestoreTargets takes what Targets returned in an earlier life. No ban and no
// rest becomes longer than a new one can be, whatever the clock did. A ban also
// holds for a proxy that comes back to the list later.
func (p *Pool) RestoreTargets(bans []Ban, rests []TargetRest, now time.Time) {
	p.blameMu.Lock()
	defer p.blameMu.Unlock()
	for _, b := range bans {
		if left := min(b.Until.Sub(now), p.longestBan()); left > 0 {
			p.memory.trouble(keyOf(b.Target), b.Target, now).ban(ban{b.Proxy, now.Add(left)})
		}
	}
	for _, r := range rests {
		if r.Rest > 0 {
			t := p.memory.trouble(keyOf(r.Target), r.Target, now)
			t.rest = min(r.Rest, p.options.MaxTargetRest)
			t.downUntil = now.Add(min(r.Until.Sub(now), t.rest))
		}
	}
}
