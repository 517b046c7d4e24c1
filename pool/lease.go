package pool

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Where several instances share what they know of the proxies, only one of them
// tests a proxy whose rest is over: the one that has the lease for it. Leases are
// fetched in advance and behind the requests' backs. What a request finds is a
// short list, or that no leases are needed.

// leases are those that this instance has, and until when unless they are renewed:
// who was held up for longer than that must not use them. They never change.
type leases struct {
	held  []ID
	until time.Time
}

func (l *leases) has(id ID, now time.Time) bool {
	return slices.Contains(l.held, id) && now.Before(l.until)
}

// wanted are the proxies that somebody would have tested if there had been a
// lease. It is safe for concurrent use.
type wanted struct {
	wake chan struct{} // gets something when there is one
	any  atomic.Bool   // there is one: most need not tell of others

	mu  sync.Mutex
	ids map[ID]struct{}
}

// mostWanted bounds how many are remembered.
const mostWanted = 64

// Lease has the pool test only those of its resting proxies for which it has a
// lease, the given ones, from now on, and none after the given time.
func (p *Pool) Lease(held []ID, until time.Time) {
	was := p.leases.Swap(&leases{held, until})
	if was == nil || slices.ContainsFunc(held, func(id ID) bool { return !slices.Contains(was.held, id) }) {
		p.Free()
	}
}

// LeaseNone has the pool test its resting proxies without leases, as from the
// beginning.
func (p *Pool) LeaseNone() {
	if p.leases.Swap(nil) != nil {
		p.Free()
	}
}

// Wanted gets something when there are proxies for TakeWanted.
func (p *Pool) Wanted() <-chan struct{} { return p.wanted.wake }

// TakeWanted returns the proxies that would have been tested, but for a lease,
// since it was last called.
func (p *Pool) TakeWanted() []ID {
	w := &p.wanted
	w.mu.Lock()
	defer w.mu.Unlock()
	var ids []ID
	for id := range w.ids {
		ids = append(ids, id)
	}
	clear(w.ids)
	w.any.Store(false)
	return ids
}

// DueBy returns resting proxies that may be tested then or before, the soonest
// first, as many as are asked for at most.
func (p *Pool) DueBy(at time.Time, most int) (ids []ID) {
	p.resting.mu.Lock()
	defer p.resting.mu.Unlock()
	for _, m := range p.resting.queue.firstDue(at.UnixNano(), most) {
		ids = append(ids, m.ID)
	}
	return ids
}

// mayTest is true for a proxy that does not rest, or that needs no lease, or has
// one. Else it is noted as wanted.
func (p *Pool) mayTest(m *Proxy, now time.Time) bool {
	l := p.leases.Load()
	if l == nil || !m.breaker.Load().Resting() || l.has(m.ID, now) {
		return true
	}
	if m.breaker.Load().Ready(now) {
		p.want(m.ID)
	}
	return false
}

func (p *Pool) want(id ID) {
	w := &p.wanted
	w.mu.Lock()
	if w.ids == nil {
		w.ids = map[ID]struct{}{}
	}
	if len(w.ids) < mostWanted {
		w.ids[id] = struct{}{}
	}
	w.any.Store(true)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// testable returns members that are due: a few of those that wait for longest, or
// if it takes leases, those that have one. With none of these the others are
// wanted.
func (p *Pool) testable(s *snapshot, now time.Time) (members []*Proxy) {
	l := p.leases.Load()
	if l == nil {
		return p.resting.due(now)
	}
	for _, id := range l.held {
		if m, in := s.get(id); in && l.has(id, now) && m.breaker.Load().Resting() && m.breaker.Load().Ready(now) {
			members = append(members, m)
		}
	}
	if len(members) == 0 && !p.wanted.any.Load() {
		for _, m := range p.resting.due(now) {
			p.want(m.ID)
		}
	}
	return members
}
