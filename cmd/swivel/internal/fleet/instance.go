package fleet

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"swivel/storage"
)

// Instance is one of a fleet. Create it with [New].
type Instance struct {
	me       string
	settings Settings
	members  Members
	clock    clock
	book     *book
	leases   *leases

	items map[string]storage.Item // to be told, the newest of each key
	order []string                // their keys
	sent  map[string]storage.Item // in the call under way

	life      string
	cursor    uint64
	instances int
	answered  time.Time // the last answer
	asked     time.Time // the last call
	failures  int       // since then
	soon      bool      // there is something to say or to hear
	soonAt    time.Time // since when
	more      bool
}

// New returns an instance of this name, which no other has, with these members.
func New(me string, s Settings, members Members) *Instance {
	if s.Times == (Times{}) {
		s.Times = DefaultTimes()
	}
	i := &Instance{me: me, settings: s, members: members, items: map[string]storage.Item{}, instances: 1}
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(me)) // never fails
	random := rand.New(rand.NewPCG(seed.Sum64(), 0))
	i.leases = newLeases(members, s.Times, random)
	i.book = newBook(me, s, &i.clock, members, random)
	return i
}

// Note says that the breaker of a proxy has changed.
func (i *Instance) Note(id string, now time.Time) {
	i.book.note(id)
	i.hurry(now)
}

// Want says that a request would have tested these proxies.
func (i *Instance) Want(ids []string, now time.Time) {
	for _, id := range ids {
		i.leases.wanted[id] = true
	}
	i.hurry(now)
}

// Nudged says that others have told something.
func (i *Instance) Nudged(now time.Time) { i.hurry(now) }

// Reread has the instance look at all that the fleet knows, and at all that it could
// tell: it has other members now.
func (i *Instance) Reread(now time.Time) {
	i.cursor = 0
	i.book.lookThrough()
	i.hurry(now)
}

func (i *Instance) hurry(now time.Time) {
	if !i.soon {
		i.soon, i.soonAt = true, now
	}
}

// Tell shares something else, in place of what of the same key is not told yet.
// value "" says that it is gone. It holds from the given time on, for so long.
func (i *Instance) Tell(key, value string, at time.Time, ttl time.Duration, now time.Time) {
	if _, waits := i.items[key]; !waits {
		i.order = append(i.order, key)
	}
	i.items[key] = storage.Item{Key: key, Value: value, Stamp: i.clock.moment(at), TTL: max(1, int(ttl.Seconds()))}
	i.hurry(now)
}

// Next is when the hub is to be called: a moment after there is something to say,
// or else with the next beat. Not before the pace allows, nor, while the hub is
// away, before the beat.
func (i *Instance) Next() time.Time {
	at := i.asked.Add(i.settings.Times.Beat)
	if i.failures == 0 && (i.soon || i.more) {
		early := i.asked.Add(i.settings.Times.PaceOf(i.instances).Gap)
		if soonest := i.soonAt.Add(i.settings.Times.Batch); !i.more && soonest.After(early) {
			early = soonest
		}
		if early.Before(at) {
			at = early
		}
	}
	return at
}

// Ask returns what to tell and ask the hub now. Hear or Failed has to follow.
func (i *Instance) Ask(now time.Time) storage.Sync {
	pace := i.settings.Times.PaceOf(i.instances)
	released := i.leases.review(now)
	i.book.tally(now)
	s := storage.Sync{
		Instance: i.me, Now: i.clock.moment(now), Salt: i.settings.Salt, Life: i.life, Cursor: i.cursor, Limit: pace.Answers,
		Gap: int(pace.Gap.Milliseconds()), LeaseFor: int(i.settings.Times.LeaseFor.Milliseconds()), Released: released,
		Known: i.book.compose(released, pace.Known, now),
		Items: i.take(pace.Known),
	}
	s.Leases = i.leases.ask(i.stamp, i.instances, now)
	i.asked, i.soon = now, len(i.book.queue)+len(i.book.backlog)+len(i.order) > 0
	i.soonAt = now
	return s
}

func (i *Instance) stamp(id string) storage.Moment {
	if e := i.book.entries[id]; e != nil {
		return e.known.Stamp
	}
	return 0
}

// take returns the items that have waited for longest.
func (i *Instance) take(most int) (items []storage.Item) {
	i.sent = map[string]storage.Item{}
	for _, key := range i.order[:min(most, len(i.order))] {
		items = append(items, i.items[key])
		i.sent[key] = i.items[key]
		delete(i.items, key)
	}
	i.order = i.order[len(items):]
	return items
}

// Hear takes the answer to what was asked then, and returns what others tell
// beside proxies.
func (i *Instance) Hear(answer storage.Synced, asked, now time.Time) (items []storage.Item) {
	i.clock.learn(answer.Clock, asked, now)
	i.answered, i.failures = now, 0
	i.instances, i.more, i.book.behind = answer.Instances, answer.More, answer.More
	i.book.landed()
	if i.life != answer.Life {
		i.book.rejoin()
	}
	i.life, i.cursor = answer.Life, answer.Cursor
	for _, k := range answer.Known {
		i.book.hear(k, now)
	}
	i.leases.heard(answer.Leases, now)
	for _, item := range answer.Items {
		if _, newer := i.items[item.Key]; !newer && i.sent[item.Key] != item {
			items = append(items, item)
		}
	}
	i.sent = nil
	if len(i.book.queue)+len(i.book.backlog)+len(i.order) > 0 {
		i.hurry(now)
	}
	return items
}

// Failed says that the hub did not answer. What it was told may have arrived.
func (i *Instance) Failed(now time.Time) {
	i.failures++
	i.book.lost()
	for key, item := range i.sent {
		if _, newer := i.items[key]; !newer {
			i.items[key] = item
			i.order = append(i.order, key)
		}
	}
	i.sent, i.soon = nil, true
	i.leases.asked = nil
}

// Alone says that the hub has been silent for so long that the others must be
// taken for gone: proxies are tested without leases.
func (i *Instance) Alone(now time.Time) bool {
	return now.Sub(i.answered) > i.settings.Times.AloneAfter && i.failures > 0 || i.answered.IsZero()
}

// Leases are the proxies that this instance may test.
func (i *Instance) Leases() []string {
	ids := make([]string, 0, len(i.leases.held))
	for id := range i.leases.held {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Time translates a stamp of the fleet.
func (i *Instance) Time(m storage.Moment) time.Time { return i.clock.time(m) }

// Skew is how far this machine's clock is behind that of the hub, 0 before the
// first answer; and whether that is more than a clock may be off.
func (i *Instance) Skew() (behind time.Duration, much bool) {
	return i.clock.offset, i.clock.offset > maxSkew || i.clock.offset < -maxSkew
}

// Quit returns the last call: what is not told yet, and all leases.
func (i *Instance) Quit(now time.Time) storage.Sync {
	held := i.Leases()
	clear(i.leases.held)
	s := i.Ask(now)
	s.Released, s.Leases = append(s.Released, held...), nil
	return s
}
