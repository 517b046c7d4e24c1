package pool

import (
	"slices"
	"time"
)

// ban keeps one proxy away from one target for a while.
type ban struct {
	proxy *runtime
	id    ID
	until time.Time
}

// bansMax bounds the bans of one target; the oldest goes first.
const bansMax = 256

// banned returns who is kept away from the target now; nil for nearly every
// target, without a lock.
func (p *Pool) banned(k targetKey, now time.Time) []*runtime {
	if !p.memory.mayBeTroubled(k) {
		return nil
	}
	p.blameMu.Lock()
	defer p.blameMu.Unlock()
	t := p.memory.find(k)
	if t == nil {
		return nil
	}
	var out []*runtime
	kept := t.bans[:0]
	for _, b := range t.bans {
		if b.until.After(now) {
			kept = append(kept, b)
			out = append(out, b.proxy)
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
	p.blameMu.Lock()
	defer p.blameMu.Unlock()
	p.ban(l.Proxy, x.target, x.name, min(rest, p.options.Breaker.MaxOpenTimeout), now)
}

// ban adds a ban. blameMu is held.
func (p *Pool) ban(m *Proxy, k targetKey, name string, rest time.Duration, now time.Time) {
	t := p.memory.trouble(k, name, now)
	t.bans = slices.DeleteFunc(t.bans, func(b ban) bool { return b.proxy == m.runtime })
	if len(t.bans) == bansMax {
		t.bans = t.bans[1:]
	}
	t.bans = append(t.bans, ban{m.runtime, m.ID, now.Add(rest)})
	p.troubles.Add(1)
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
