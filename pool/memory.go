package pool

import (
	"container/list"
	"hash/maphash"
	"sync/atomic"
	"time"
)

// A target that nobody has trouble with costs one slot of a fixed table, read
// and written without a lock. One that some attempt could not reach gets a
// record of its own, until it has been quiet for a while.
const (
	// reachedWithin is how long a target counts as known to be alive.
	reachedWithin = time.Hour
	// slotCount bounds the memory of reached targets (256 KiB). Two targets
	// that fall into one slot forget each other, which only makes a suspicion
	// lapse.
	slotCount = 1 << 14
	// troubledMax bounds the records of targets with trouble (about 1 MiB); the
	// one that has been quiet for longest is forgotten first.
	troubledMax = 4096
)

var targetSeed = maphash.MakeSeed()

// targetKey is the hash of a target's name: the name itself is not needed.
type targetKey uint64

func keyOf(target string) targetKey { return targetKey(maphash.String(targetSeed, target)) }

// slot is what is known of one target: the upper half of its key with the unix
// second in which it was last reached, and how many targets of the slot have a
// record.
type slot struct {
	reached  atomic.Uint64
	troubled atomic.Int32
}

// memory knows targets. The slots need no lock, the records Pool.blameMu. The
// zero value is not usable; see newMemory.
type memory struct {
	slots   [slotCount]slot
	records map[targetKey]*list.Element // of *target
	recent  *list.List                  // of *target, latest trouble first
}

func newMemory() *memory {
	return &memory{records: map[targetKey]*list.Element{}, recent: list.New()}
}

func (m *memory) slot(k targetKey) *slot { return &m.slots[k%slotCount] }

// noteReached remembers that the target was reached.
func (m *memory) noteReached(k targetKey, now time.Time) {
	s := m.slot(k)
	entry := uint64(k)&^0xffffffff | uint64(uint32(now.Unix()))
	if s.reached.Load() != entry { // most often the same target within one second
		s.reached.Store(entry)
	}
}

// reachedLately says whether some proxy reached the target within the hour.
func (m *memory) reachedLately(k targetKey, now time.Time) bool {
	return m.reachedSince(k, now.Add(-reachedWithin), now)
}

// reachedSince says whether some proxy reached the target between then and now,
// to the second.
func (m *memory) reachedSince(k targetKey, then, now time.Time) bool {
	entry := m.slot(k).reached.Load()
	at := int64(uint32(entry))
	return entry != 0 && entry>>32 == uint64(k)>>32 && at >= then.Unix() && at <= now.Unix()
}

// mayBeTroubled is false for nearly every target, without a lock.
func (m *memory) mayBeTroubled(k targetKey) bool { return m.slot(k).troubled.Load() > 0 }

// find returns the target's record, or nil.
func (m *memory) find(k targetKey) *target {
	if e, ok := m.records[k]; ok {
		return e.Value.(*target)
	}
	return nil
}

// trouble returns the target's record, made if need be, as the latest one.
func (m *memory) trouble(k targetKey, name string, now time.Time) *target {
	e, ok := m.records[k]
	if ok {
		m.recent.MoveToFront(e)
	} else {
		if m.recent.Len() >= troubledMax {
			m.forget(m.recent.Back())
		}
		e = m.recent.PushFront(&target{key: k, name: name})
		m.records[k] = e
		m.slot(k).troubled.Add(1)
	}
	t := e.Value.(*target)
	t.lastTrouble = now
	return t
}

func (m *memory) forget(e *list.Element) {
	t := m.recent.Remove(e).(*target)
	delete(m.records, t.key)
	m.slot(t.key).troubled.Add(-1)
}

// forgetQuiet drops the records without trouble since then.
func (m *memory) forgetQuiet(since time.Time) {
	for e := m.recent.Back(); e != nil && e.Value.(*target).lastTrouble.Before(since); e = m.recent.Back() {
		m.forget(e)
	}
}
