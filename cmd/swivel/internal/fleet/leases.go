package fleet

import (
	"maps"
	"math/rand/v2"
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
// It has as many as it has use for: what it does not test others cannot.
type leases struct {
	times   Times
	members Members
	random  *rand.Rand
	held    map[string]*lease
	wanted  map[string]bool      // by requests that came too early
	refused map[string]time.Time // not asked for again before
	hold    time.Duration
	goal    int      // how many are kept ready
	asked   []string // in the call under way
	busyAt  time.Time
}

func newLeases(members Members, t Times, random *rand.Rand) *leases {
	return &leases{
		times: t, members: members, random: random, held: map[string]*lease{}, wanted: map[string]bool{},
		refused: map[string]time.Time{}, hold: t.HoldFirst, goal: 2,
	}
}

// most is how many proxies an instance keeps ready to be tested at most.
func (l *leases) most() int { return max(8, l.members.Len()/1000) }

// review returns what is to be given back now, and drops it. What was of no use here
// although there was traffic is left to others for a while.
func (l *leases) review(now time.Time) (released []string) {
	idle, busy := false, false
	for _, id := range slices.Sorted(maps.Keys(l.held)) {
		one := l.held[id]
		over, lapsed := l.over(id, one, now)
		if over {
			released = append(released, id)
			delete(l.held, id)
		}
		switch unused := lapsed && !one.used; {
		case unused && l.busyAt.Sub(one.since) > settled:
			busy = true
			l.refused[id] = now.Add(lapsedFor)
		case unused:
			idle = true
		}
		if lapsed && one.used {
			l.hold = l.times.HoldFirst
		}
	}
	if idle { // once, however many they are
		l.hold = min(2*l.hold, l.times.HoldMost)
	}
	if idle || busy {
		l.goal = max(l.goal/2, 1)
	}
	return released
}

// over says whether a lease is of no use any more: the test is over, or nobody
// makes one, and it has lapsed.
func (l *leases) over(id string, one *lease, now time.Time) (over, lapsed bool) {
	s, edition, probing, ok := l.members.Standing(id, now)
	if ok && (probing || edition != one.edition) {
		l.use(one)
		one.since, one.edition = now, edition
	}
	switch {
	case !ok || s.State == breaker.Closed:
		return true, false
	case probing:
		return false, false
	case s.State == breaker.Open && s.Until.After(now.Add(l.times.LeaseAhead)):
		return true, false
	default: // if a test was won, another one has to follow
		lapsed = now.Sub(one.since) > l.hold
		return lapsed, lapsed
	}
}

func (l *leases) use(one *lease) {
	if !one.used {
		one.used = true
		l.goal = min(l.goal+1, l.most())
	}
}

// ask returns the wishes of a call: what is held, what was wanted, and while there
// is traffic what is due soon.
func (l *leases) ask(stamp func(id string) storage.Moment, instances int, now time.Time) (wishes []storage.Wish) {
	l.asked = l.asked[:0]
	for _, id := range slices.Sorted(maps.Keys(l.held)) {
		wishes = append(wishes, storage.Wish{ProxyID: id, Stamp: stamp(id)})
	}
	room := l.goal - l.unused()
	for _, id := range l.candidates(instances, now) {
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

// mostCandidates bounds among how many proxies an instance chooses.
const mostCandidates = 256

// candidates are proxies that are to be tested, in an order by chance: if each of
// many instances asked for the one that is due for longest, one would get it, and
// the others none.
func (l *leases) candidates(instances int, now time.Time) []string {
	ids := slices.Sorted(maps.Keys(l.wanted))
	clear(l.wanted)
	if l.members.Busy() {
		l.busyAt = now
	}
	if now.Sub(l.busyAt) <= l.times.HoldFirst || len(ids) > 0 {
		ids = append(ids, l.members.DueBy(now.Add(l.times.LeaseAhead), min(2*l.goal*instances, mostCandidates))...)
	}
	l.random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids
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
