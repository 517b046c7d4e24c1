package fleet

import (
	"maps"
	"slices"
	"time"

	"swivel/breaker"
	"swivel/storage"
)

// lease is the right to test a proxy, which this instance has.
type lease struct {
	since   time.Time // it was got, or last of use
	edition uint32    // of the breaker's standing then
	used    bool
}

// leases are those that an instance has and wants. An instance without traffic
// asks for none, and gives back the ones that nobody uses: sooner at first, later
// once that has happened, for in a slow fleet the next request may be minutes away.
type leases struct {
	times   Times
	members Members
	held    map[string]*lease
	wanted  map[string]bool      // by requests that came too early
	refused map[string]time.Time // not asked for again before
	hold    time.Duration
	asked   []string // in the call under way
	busyAt  time.Time
}

func newLeases(members Members, t Times) *leases {
	return &leases{
		times: t, members: members, held: map[string]*lease{}, wanted: map[string]bool{},
		refused: map[string]time.Time{}, hold: t.HoldFirst,
	}
}

// ahead is how many proxies an instance keeps ready to be tested.
func (l *leases) ahead() int { return max(8, l.members.Len()/1000) }

// review returns what is to be given back now, and drops it.
func (l *leases) review(now time.Time) (released []string) {
	for _, id := range slices.Sorted(maps.Keys(l.held)) {
		if l.over(id, l.held[id], now) {
			released = append(released, id)
			delete(l.held, id)
		}
	}
	return released
}

// over says whether a lease is of no use any more: the test is over, or nobody
// makes one.
func (l *leases) over(id string, one *lease, now time.Time) bool {
	s, edition, probing, ok := l.members.Standing(id, now)
	switch {
	case !ok || s.State == breaker.Closed:
		return true
	case probing:
		one.used, one.since, one.edition = true, now, edition
		return false
	case s.State == breaker.Open && s.Until.After(now.Add(l.times.LeaseAhead)):
		return true
	case edition != one.edition: // a test was won, and another one has to follow
		one.used, one.since, one.edition = true, now, edition
		return false
	case now.Sub(one.since) <= l.hold:
		return false
	}
	if one.used {
		l.hold = l.times.HoldFirst
	} else {
		l.hold = min(2*l.hold, l.times.HoldMost)
	}
	return true
}

// ask returns the wishes of a call: what is held, what was wanted, and while there
// is traffic what is due soon.
func (l *leases) ask(stamp func(id string) storage.Moment, now time.Time) (wishes []storage.Wish) {
	l.asked = l.asked[:0]
	for _, id := range slices.Sorted(maps.Keys(l.held)) {
		wishes = append(wishes, storage.Wish{ProxyID: id, Stamp: stamp(id)})
	}
	fresh := slices.Sorted(maps.Keys(l.wanted))
	clear(l.wanted)
	if l.members.Busy() {
		l.busyAt = now
	}
	if now.Sub(l.busyAt) <= l.times.HoldFirst || len(fresh) > 0 {
		fresh = append(fresh, l.members.DueBy(now.Add(l.times.LeaseAhead), 2*l.ahead())...)
	}
	room := l.ahead() - l.unused()
	for _, id := range fresh {
		if room <= 0 {
			break
		}
		if l.held[id] == nil && !now.Before(l.refused[id]) && !slices.Contains(l.asked, id) {
			l.asked = append(l.asked, id)
			wishes = append(wishes, storage.Wish{ProxyID: id, Stamp: stamp(id)})
			room--
		}
	}
	return wishes
}

func (l *leases) unused() (n int) {
	for _, one := range l.held {
		if !one.used {
			n++
		}
	}
	return n
}

// heard takes the leases that the hub says this instance has.
func (l *leases) heard(granted []string, now time.Time) {
	for id := range l.held {
		if !slices.Contains(granted, id) {
			delete(l.held, id)
		}
	}
	for _, id := range granted {
		if l.held[id] == nil {
			s, edition, _, _ := l.members.Standing(id, now)
			since := now
			if s.Until.After(now) {
				since = s.Until
			}
			l.held[id] = &lease{since: since, edition: edition}
		}
	}
	for _, id := range l.asked {
		if l.held[id] == nil {
			l.refused[id] = now.Add(refusedFor)
		}
	}
	for id, until := range l.refused {
		if !now.Before(until) {
			delete(l.refused, id)
		}
	}
}
