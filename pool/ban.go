package pool

import "time"

// ban keeps one proxy away from one target for a while.
type ban struct {
	proxy *runtime
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

// deny bans the proxy from a target that it refuses to serve. True when the
// proxy has refused three targets without serving one in between: then it is
// the proxy that does not serve us.
func (p *Pool) deny(r *runtime, k targetKey, name string, now time.Time) bool {
	p.blameMu.Lock()
	defer p.blameMu.Unlock()
	t := p.memory.trouble(k, name, now)
	if len(t.bans) == bansMax {
		t.bans = t.bans[1:]
	}
	t.bans = append(t.bans, ban{r, now.Add(p.options.BanRest)})
	p.troubles.Add(1)
	r.blemished.Store(true)
	return r.denied.add(k)
}
