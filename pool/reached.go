package pool

import (
	"hash/maphash"
	"sync/atomic"
	"time"
)

// reachedWithin is how long a target counts as known to be alive.
const reachedWithin = time.Hour

// reachedSlots bounds the memory of reached targets (128 KiB) whatever clients
// ask for. Two targets that fall into one slot forget each other, which only
// makes a suspicion lapse.
const reachedSlots = 1 << 14

// reachedTargets remembers which targets some proxy reached lately. A slot
// holds the upper half of the target's hash and the time in unix seconds, so
// that reading and writing need no lock. The zero value is empty.
type reachedTargets struct {
	slots [reachedSlots]atomic.Uint64
}

var targetSeed = maphash.MakeSeed()

func hashTarget(target string) uint64 { return maphash.String(targetSeed, target) }

func (r *reachedTargets) add(target uint64, now time.Time) {
	slot := &r.slots[target%reachedSlots]
	entry := target&^0xffffffff | uint64(uint32(now.Unix()))
	if slot.Load() != entry { // most often the same target within one second
		slot.Store(entry)
	}
}

func (r *reachedTargets) has(target uint64, now time.Time) bool {
	entry := r.slots[target%reachedSlots].Load()
	age := int64(uint32(now.Unix())) - int64(uint32(entry))
	return entry != 0 && entry>>32 == target>>32 && age >= 0 && age <= int64(reachedWithin/time.Second)
}
