package pool

import (
	"slices"
	"time"
)

// ban keeps one proxy away from one target for a while, also if it leaves the list
// and comes back meanwhile.
type ban struct {
	id    ID
	until time.Time
}

// bansMax bounds the bans of one target; the oldest goes first.
const bansMax = 256

// banned returns the bans of the target that are in force; nil for nearly every
// target, without a lock.
func (p *Pool) banned(k targetKey, now time.Time) []ban {
	if !p.memory.mayBeTroubled(k) {
		return nil
	}
	p.blameMu.Lock()
	defer p.blameMu.Unlock()
	t := p.memory.find(k)
	if t == nil {
		return nil
	}
	var out []ban
	kept := t.bans[:0]
	for _, b := range t.bans {
		if b.until.After(now) {
			kept = append(kept, b)
			out = append(out, b)
		}
	}
	t.bans = kept
	return out
}

// Ban keeps the lease's proxy away from the exchange's target: the target itself
// has had enough of it. rest is how long, 0 for the usual time.
func (x *Exchange) Ban(l *Lease, rest time.Duration, now time.Time) {
	p := x.pool
	if rest <= 0 {
		rest = p.options.BanRest
	}
	rest = min(rest, p.options.Breaker.MaxOpenTimeout)
	x.mu.Lock()
	defer x.mu.Unlock()
	p.blameMu.Lock()
	defer p.blameMu.Unlock()
	p.ban(l.Proxy, x.target, x.name, rest, now)
	x.noteBan(l.Proxy, now.Add(rest))
}

// noteBan has the exchange itself heed a ban that it has brought about: also of a
// proxy that it may try again. x.mu is held.
func (x *Exchange) noteBan(m *Proxy, until time.Time) {
	x.banned = slices.DeleteFunc(x.banned, func(b ban) bool { return b.id == m.ID })
	x.banned = append(x.banned, ban{m.ID, until})
}

// banLeft is for how long the exchange must still not use the proxy.
func (x *Exchange) banLeft(m *Proxy, now time.Time) time.Duration {
	for i := range x.banned {
		if x.banned[i].id == m.ID {
			return max(0, x.banned[i].until.Sub(now))
		}
	}
	return 0
}

// KeptAway says that all proxies which could serve the exchange are banned from
// its target.
func (x *Exchange) KeptAway(now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, v := x.view()
	if home, bound := x.bound(s, v); bound {
		return home != nil && home.usable() && x.banLeft(home, now) > 0
	}
	away := int64(0)
	for _, b := range x.banned {
		place, listed := s.place(b.id)
		if listed && v.has(place) && s.proxies[place].usable() && b.until.After(now) {
			away++
		}
	}
	return away > 0 && away == v.usable.Load()
}

// ban adds a ban. blameMu is held.
func (p *Pool) ban(m *Proxy, k targetKey, name string, rest time.Duration, now time.Time) {
	p.memory.trouble(k, name, now).ban(ban{m.ID, now.Add(rest)})
	p.troubles.Add(1)
}

// ban adds a ban, in place of an earlier one of the same proxy.
func (t *target) ban(one ban) {
	t.bans = slices.DeleteFunc(t.bans, func(b ban) bool { return b.id == one.id })
	if len(t.bans) == bansMax {
		t.bans = t.bans[1:]
	}
	t.bans = append(t.bans, one)
}

// longestBan is how long one may be that comes from elsewhere: as long as any of
// this pool's own.
func (p *Pool) longestBan() time.Duration {
	return max(p.options.BanRest, p.options.Breaker.MaxOpenTimeout)
}

// denied bans the lease's proxy as deny does. x.mu is held.
func (x *Exchange) denied(l *Lease, now time.Time) (everywhere bool) {
	x.noteBan(l.Proxy, now.Add(x.pool.options.BanRest))
	return x.pool.deny(l.Proxy, x.target, x.name, now)
}

// deny bans the proxy from a target that it refuses to serve. True when the
// proxy has refused three targets without serving one in between: then it is
// the proxy that does not serve us.
func (p *Pool) deny(m *Proxy, k targetKey, name string, now time.Time) bool {
	p.blameMu.Lock()
	defer p.blameMu.Unlock()
	p.ban(m, k, name, p.options.BanRest, now)
	m.marks.set(blemished)
	return m.charge().denied.add(k)
}
