package pool

import (
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"swivel/breaker"
)

// Change says what a Replace did, in numbers of proxies.
type Change struct {
	Added, Kept, Removed int
}

// Replace makes specs the members. A proxy whose identity was there before
// keeps its breaker; exchanges under way finish with the proxies they hold. The
// specs are the pool's from here on, and must not be changed. With many of them
// it takes its time, which is that of those whom the pool serves.
func (p *Pool) Replace(specs []*Spec, now time.Time) Change {
	p.reloadMu.Lock()
	defer p.reloadMu.Unlock()
	return p.replace(specs, now, beside())
}

func (p *Pool) replace(specs []*Spec, now time.Time, b *breath) Change {
	next, change := p.build(specs, now, b)
	p.publish(next, now, b)
	return change
}

// build makes the snapshot that is to come. Nobody can tell it yet what happens to
// its members: that is made up for when it is published.
func (p *Pool) build(specs []*Spec, now time.Time, b *breath) (next *snapshot, change Change) {
	old := p.current.Load()
	next = newSnapshot(len(specs))
	for spec, is := range p.known(old, specs, b) {
		if is.member != nil {
			next.add(p.keep(is.member, spec, now))
			change.Kept++
		} else {
			next.add(p.join(is.id, spec, now))
			change.Added++
		}
	}
	change.Removed = len(old.proxies) - change.Kept
	next.watch(p.options.Strategy, b)
	next.prepare(old, p.options.Strategy, b)
	return next, change
}

func (p *Pool) publish(next *snapshot, now time.Time, b *breath) {
	probeRate := p.options.ProbeRate + float64(len(next.proxies))/100
	p.probes.SetRate(probeRate, math.Ceil(probeRate), now)
	p.current.Store(next)
	next.views.refreshAll(b)
	p.resting.follow(next, now, b)
}

// Newcomers returns the ids of those of specs that are no members yet.
func (p *Pool) Newcomers(specs []*Spec) (ids []ID) {
	for _, is := range p.known(p.current.Load(), specs, beside()) {
		if is.member == nil {
			ids = append(ids, is.id)
		}
	}
	return ids
}

// known is the member that a spec is, or else the id that it is going to have.
type known struct {
	member *Proxy
	id     ID
}

// known goes through specs. Lists change little: most of them are the members in
// their order, and need no id to be made to be found.
func (p *Pool) known(s *snapshot, specs []*Spec, b *breath) iter.Seq2[*Spec, known] {
	ids, next := IDs(p.options.Salt), 0
	find := func(spec *Spec) known {
		if next < len(s.proxies) && s.proxies[next].Spec.same(spec) {
			next++
			return known{member: s.proxies[next-1]}
		}
		id := ids(spec)
		place, found := s.place(id)
		if !found {
			return known{id: id}
		}
		next = place + 1
		return known{member: s.proxies[place]}
	}
	return func(yield func(*Spec, known) bool) {
		for i := range specs {
			if b.take(i); !yield(specs[i], find(specs[i])) {
				return
			}
		}
	}
}

// keep returns a proxy that stays, as its line is now. When that gives its
// breaker other limits than before, it goes on from the same state under the new
// ones; attempts under way then report to nobody.
func (p *Pool) keep(was *Proxy, spec *Spec, now time.Time) *Proxy {
	if was.Spec.same(spec) {
		return was
	}
	m := &Proxy{ID: was.ID, Spec: spec, runtime: was.runtime, most: atMost(spec)}
	m.setRate(spec.Rate, now)
	if settings := SettingsOf(spec, p.options.Breaker); settings != SettingsOf(was.Spec, p.options.Breaker) {
		m.breaker.Store(breaker.Restore(settings, m.breaker.Load().Snapshot(now), rand.Float64, now))
	}
	m.segment = p.segmentOf(spec, now)
	return m
}

// join returns a proxy that is new, with what is stored of it.
func (p *Pool) join(id ID, spec *Spec, now time.Time) *Proxy {
	m, b := newProxy(id, spec)
	m.setRate(spec.Rate, now)
	m.segment = p.segmentOf(spec, now)
	settings := SettingsOf(spec, p.options.Breaker)
	if p.options.Restore != nil {
		if snap, ok := p.options.Restore(id); ok {
			b.Resume(settings, snap, rand.Float64, now)
			return m
		}
	}
	b.Begin(settings, rand.Float64)
	return m
}

// segmentOf is the proxy's segment, nil if it has none.
func (p *Pool) segmentOf(spec *Spec, now time.Time) *segment {
	return p.segments.of(spec, func(name string) *breaker.Breaker {
		settings := p.options.Segment.Breaker
		if p.options.Restore != nil {
			if snap, ok := p.options.Restore(p.SegmentID(name)); ok {
				return breaker.Restore(settings, snap, rand.Float64, now)
			}
		}
		return breaker.New(settings, rand.Float64)
	})
}
