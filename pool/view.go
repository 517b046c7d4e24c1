package pool

import (
	"iter"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"swivel/pool/route"
)

// view is the members of one snapshot that a request may get, ready to be drawn
// from. Which members it has never changes; who of them is usable does, and is
// kept up to date by [snapshot.refresh].
type view struct {
	members []*Proxy // of a weight above zero, as they stand in the snapshot
	places  []int32  // where they stand; nil: the snapshot has no others
	tree    *sumTree // of the weights of those that are usable
	turns   *turns   // nil unless proxies take turns
	usable  atomic.Int64
	lastUse uint64 // guarded by views.mu
	// forgotten: nobody tells it any more who is usable.
	forgotten atomic.Bool

	known   atomic.Pointer[forecast] // see outlook; nil: nothing
	lacking []string                 // without members: the routing keys that there is nobody for
	hashing sync.Once
	ring    []uint64 // see hashed
}

// newView returns a view of those members at the places given that meet the
// constraints, and that can be picked at all, made at the pace of b.
func newView(proxies []*Proxy, places []int32, c route.Constraints, strategy Strategy, b *breath) *view {
	v := &view{members: proxies}
	greatest := 0.0
	for i, place := range places {
		b.take(i)
		if m := proxies[place]; m.Spec.Weight > 0 && m.fits(c) {
			v.places = append(v.places, place)
			greatest = max(greatest, m.Spec.Weight)
		}
	}
	if len(v.places) == len(proxies) {
		v.places = nil
	} else {
		v.members = make([]*Proxy, len(v.places))
		for slot, place := range v.places {
			v.members[slot] = proxies[place]
		}
	}
	v.tree = newSumTree(len(v.members), greatest)
	if strategy == RoundRobin {
		v.turns = newTurns(v.members)
	}
	v.tree.fill(v.weights(b))
	return v
}

// weights are those that count at first: of the members that are usable.
func (v *view) weights(b *breath) iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		for slot, m := range v.members {
			if b.take(slot); !m.usable() {
				continue
			}
			v.usable.Add(1)
			if v.turns != nil {
				v.turns.join(slot)
			}
			if !yield(slot, m.Spec.Weight) {
				return
			}
		}
	}
}

// refreshAll takes note of who is usable now, some at a time, for whom it holds
// the lock by which callers take turns.
func (v *view) refreshAll(turn sync.Locker, b *breath) {
	const some = 128
	for first := 0; first < len(v.members); first += some {
		turn.Lock()
		for slot := first; slot < min(first+some, len(v.members)); slot++ {
			v.set(slot, v.members[slot].usable())
		}
		turn.Unlock()
		b.rest()
	}
}

// draw returns a usable member by the luck of the weights; nil if there is none.
func (v *view) draw() *Proxy {
	if i := v.tree.draw(); i >= 0 {
		return v.members[i]
	}
	return nil
}

// has says whether the member at a place of the snapshot belongs to the view.
func (v *view) has(place int) bool {
	_, found := v.slot(place)
	return found
}

func (v *view) slot(place int) (slot int, found bool) {
	if v.places == nil {
		return place, place < len(v.members)
	}
	return slices.BinarySearch(v.places, int32(place))
}

// refresh takes note of whether the member at a place of the snapshot is usable
// now, if the view has it. Callers take turns.
func (v *view) refresh(place int) {
	if slot, found := v.slot(place); found {
		v.set(slot, v.members[slot].usable())
	}
}

func (v *view) set(slot int, usable bool) {
	if v.tree.has(slot) == usable {
		return
	}
	if !usable {
		v.tree.set(slot, 0)
		v.usable.Add(-1)
		return
	}
	v.tree.set(slot, v.members[slot].Spec.Weight)
	v.usable.Add(1)
	if v.turns != nil {
		v.turns.join(slot)
	}
}

// hashed returns a member by a hash and the weights, whoever is usable: the same
// as long as the list stays the same. nil if there are no members.
func (v *view) hashed(hash uint64) *Proxy {
	v.hashing.Do(func() {
		v.ring = make([]uint64, len(v.members))
		sum := uint64(0)
		for i, m := range v.members {
			sum += v.tree.whole(m.Spec.Weight)
			v.ring[i] = sum
		}
	})
	if len(v.ring) == 0 {
		return nil
	}
	at, _ := bits.Mul64(hash, v.ring[len(v.ring)-1]) // evenly from 0 to the sum
	slot, _ := slices.BinarySearch(v.ring, at+1)
	return v.members[slot]
}
