package fleet

import (
	"math/rand/v2"
	"slices"
	"time"

	"swivel/breaker"
	"swivel/storage"
)

// entry is what an instance remembers of one proxy: how it stands in the fleet,
// and what of the own outcomes the fleet has been told.
type entry struct {
	stood    bool
	edition  uint32        // of the breaker's standing that known stands for
	known    storage.Known // the standing alone
	misses   []storage.Miss
	told     map[storage.Moment]storage.Count // own counts, as far as the hub may have them
	sharedAt time.Time
	success  storage.Moment // the last one that the hub is known to have

	untold  bool      // the fleet may not know the standing
	tellAt  time.Time // not before; see opened
	against bool      // it may know of failures that no success has ended: a later one is news
	queued  bool
	waits   bool // for its successes to be told
	used    bool // here, under this standing, and the fleet was told of what came of it
}

// book is the entries of all proxies that there was something to say of.
type book struct {
	me      string
	width   time.Duration // of a part of the window
	every   time.Duration // successes are told
	clock   *clock
	members Members
	entries map[string]*entry
	random  *rand.Rand // of its own, for other instances have to have another order
	queue   []string   // to be told, in order
	backlog []string   // to be told when there is time
	joined  []string   // whose successes are to be told with the next call
	waiting []reminder // and later, the soonest first
	flight  []flying   // told in the call under way
	behind  bool       // there is more to hear
	pushed  uint64     // told since the beginning
	learnt  uint64     // of others, likewise
}

type reminder struct {
	id string
	at time.Time
}

type flying struct {
	id      string
	misses  int
	success storage.Moment
}

// translated is how far, in microseconds, a time may be off that has gone from the
// hub's clock to another one and back: what was heard is not told as something new.
const translated = 20_000

func newBook(me string, s Settings, c *clock, members Members, random *rand.Rand) *book {
	return &book{
		me: me, width: max(s.Window/12, time.Second), every: s.Times.Tally, clock: c, members: members,
		entries: map[string]*entry{}, random: random,
	}
}

func (b *book) of(id string) *entry {
	e := b.entries[id]
	if e == nil {
		e = &entry{}
		b.entries[id] = e
	}
	return e
}

// note has a proxy told of with the next call that has room.
func (b *book) note(id string) {
	if e := b.of(id); !e.queued {
		e.queued = true
		b.queue = append(b.queue, id)
	}
}

// examined bounds what one call looks at to find something to tell.
const examined = 5000

// compose returns what is to be told now, most proxies at most, and beyond these
// the ones that must be.
func (b *book) compose(must []string, most int, now time.Time) (told []storage.Known) {
	for _, id := range must {
		if k, ok := b.tell(id, now); ok {
			told = append(told, k)
		}
	}
	for looked := 0; len(told) < most && looked < examined; looked++ {
		id, ok := b.next()
		if !ok {
			break
		}
		if k, ok := b.tell(id, now); ok {
			told = append(told, k)
		}
	}
	b.pushed += uint64(len(told))
	return told
}

// next takes the first of who waits.
func (b *book) next() (id string, ok bool) {
	from := &b.queue
	if len(*from) == 0 {
		from = &b.backlog
	}
	if len(*from) == 0 {
		return "", false
	}
	id, *from = (*from)[0], (*from)[1:]
	if from == &b.queue {
		b.of(id).queued = false
	}
	return id, true
}

// tally queues the proxies whose successes are due to be told.
func (b *book) tally(now time.Time) {
	for _, id := range b.joined {
		b.of(id).waits = false
		b.note(id)
	}
	b.joined = b.joined[:0]
	for len(b.waiting) > 0 && !now.Before(b.waiting[0].at) {
		b.of(b.waiting[0].id).waits = false
		b.note(b.waiting[0].id)
		b.waiting = b.waiting[1:]
	}
}

// tell returns what the fleet does not know of a proxy; false if that is nothing.
func (b *book) tell(id string, now time.Time) (storage.Known, bool) {
	share, ok := b.members.Share(id, now)
	if !ok {
		delete(b.entries, id)
		return storage.Known{}, false
	}
	e := b.of(id)
	moved := b.stand(id, e, share.Standing, share.Edition)
	e.used = e.used || len(share.Failures)+len(share.Window) > 0
	for _, at := range share.Failures {
		e.misses = append(e.misses, storage.Miss{At: b.clock.moment(at), By: b.me})
	}
	told := e.known
	told.LastSuccess, told.Succeeded = b.clock.moment(share.LastSuccess), share.Succeeded
	e.misses = slices.DeleteFunc(e.misses, func(m storage.Miss) bool { return m.At <= told.LastSuccess })
	told.Failures = slices.Clone(e.misses)
	told.Window = b.counts(e, share.Window)
	e.against = e.against || len(told.Failures) > 0
	unheard := (moved || e.untold) && told.Stamp != 0
	stood := unheard && (e.tellAt.IsZero() || !b.behind && !now.Before(e.tellAt))
	news := stood || len(told.Failures)+len(told.Window) > 0 || e.against && told.LastSuccess > e.success+translated
	e.sharedAt, e.untold = now.Round(0), unheard && !stood
	if (share.Pending || e.untold) && !e.waits {
		e.waits = true
		b.waiting = append(b.waiting, reminder{id, now.Add(b.every)})
	}
	switch {
	case news:
		b.flight = append(b.flight, flying{id, len(told.Failures), told.LastSuccess})
	case told.Stamp == 0 && !share.Pending && len(e.told) == 0 && !e.queued:
		delete(b.entries, id) // as good as unknown
	}
	return told, news
}

// stand brings the entry up to date with the breaker. A change of the breaker's own
// is later than all that the fleet was known to have seen, whatever the clocks say.
// It reports whether there was one.
func (b *book) stand(id string, e *entry, s breaker.Standing, edition uint32) bool {
	if e.stood && e.edition == edition {
		return false
	}
	stamp := b.clock.moment(s.At)
	if e.stood {
		stamp = max(stamp, e.known.Stamp+1)
	}
	e.stood, e.edition, e.known = true, edition, storage.Known{ProxyID: id}
	e.misses, e.told, e.untold, e.tellAt, e.used = nil, nil, true, time.Time{}, false
	if stamp == 0 {
		return true
	}
	e.known.Stamp, e.known.State, e.known.Until = stamp, s.State.String(), b.clock.moment(s.Until)
	e.known.OpensInRow, e.known.ProbeWins = s.OpensInRow, s.ProbeWins
	if s.Rule != breaker.RuleNone {
		e.known.Cause = s.Rule.String()
	}
	return true
}

// counts puts own outcomes into the parts of the window that all instances have.
// Those of parts that began before the proxy was last told of are known.
func (b *book) counts(e *entry, window []breaker.Tally) (counts []storage.Count) {
	width := storage.Moment(b.width.Microseconds())
	for _, t := range window {
		if !t.At.After(e.sharedAt) {
			continue
		}
		at := b.clock.moment(t.At)
		at -= at % width
		if e.told == nil {
			e.told = map[storage.Moment]storage.Count{}
		}
		sum := e.told[at]
		e.told[at] = storage.Count{At: at, Successes: sum.Successes + t.Successes, Failures: sum.Failures + t.Failures}
		counts = append(counts, storage.Count{At: at, Successes: t.Successes, Failures: t.Failures})
	}
	return counts
}

// landed says that the hub has what was told.
func (b *book) landed() {
	for _, f := range b.flight {
		if e := b.entries[f.id]; e != nil {
			e.misses = e.misses[min(f.misses, len(e.misses)):]
			e.success, e.against = max(e.success, f.success), e.against && (f.misses > 0 || f.success == 0)
		}
	}
	b.flight = nil
}

// lost says that it may have it or not. Counts would be taken for twice as many, so
// they are not told again; all else is.
func (b *book) lost() {
	for _, f := range b.flight {
		if e := b.entries[f.id]; e != nil {
			e.untold = true
			b.note(f.id)
		}
	}
	b.flight = nil
}

// rejoin has everything told again that the others do not tell before: the hub has
// lost it, or never knew. All instances do that at once, so each has another order.
func (b *book) rejoin() {
	for _, e := range b.entries {
		e.told, e.untold, e.success = nil, true, 0
	}
	b.lookThrough()
}

// lookThrough has all members looked at when there is time.
func (b *book) lookThrough() {
	b.backlog = b.members.All()
	b.random.Shuffle(len(b.backlog), func(i, j int) { b.backlog[i], b.backlog[j] = b.backlog[j], b.backlog[i] })
}
