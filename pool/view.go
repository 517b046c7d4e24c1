package pool

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// view is the members of one snapshot that a request may get, ready to be drawn
// from. Which members it has never changes; who of them is usable does, and is
// kept up to date by [snapshot.refresh].
type view struct {
	members []*Proxy // of a weight above zero, by Proxy.index
	tree    *sumTree // of the weights of those that are usable
	turns   *turns   // nil unless proxies take turns
	usable  atomic.Int64
	lastUse uint64 // guarded by views.mu

	known   atomic.Pointer[wait] // see retryAfter; nil: nothing
	hashing sync.Once
	ring    []uint64 // see hashed
}

// newView returns a view of those members that can be picked at all.
func newView(proxies []*Proxy, strategy Strategy) *view {
	v := &view{members: make([]*Proxy, 0, len(proxies))}
	greatest := 0.0
	for _, m := range proxies {
		if m.Spec.Weight > 0 {
			v.members = append(v.members, m)
			greatest = max(greatest, m.Spec.Weight)
		}
	}
	v.tree = newSumTree(len(v.members), greatest)
	if strategy == RoundRobin {
		v.turns = newTurns(v.members)
	}
	v.refreshAll()
	return v
}

// refreshAll takes note of who is usable now. Callers take turns.
func (v *view) refreshAll() {
	for slot, m := range v.members {
		v.set(slot, m.usable())
	}
}

// draw returns a usable member by the luck of the weights; nil if there is none.
func (v *view) draw() *Proxy {
	if i := v.tree.draw(); i >= 0 {
		return v.members[i]
	}
	return nil
}

// has says whether the member belongs to the view.
func (v *view) has(m *Proxy) bool {
	_, found := v.slot(m)
	return found
}

func (v *view) slot(m *Proxy) (slot int, found bool) {
	return slices.BinarySearchFunc(v.members, m.index, func(one *Proxy, index int32) int { return cmp.Compare(one.index, index) })
}

// refresh takes note of whether the member is usable now, if the view has it.
// Callers take turns.
func (v *view) refresh(m *Proxy) {
	if slot, found := v.slot(m); found {
		v.set(slot, m.usable())
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
