package pool

import (
	"cmp"
	"slices"
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
	for slot, m := range v.members {
		v.set(slot, m.usable())
	}
	return v
}

// draw returns a usable member by the luck of the weights; nil if there is none.
func (v *view) draw() *Proxy {
	if i := v.tree.draw(); i >= 0 {
		return v.members[i]
	}
	return nil
}

// refresh takes note of whether the member is usable now, if the view has it.
// Callers take turns.
func (v *view) refresh(m *Proxy) {
	slot, found := slices.BinarySearchFunc(v.members, m.index, func(one *Proxy, index int) int { return cmp.Compare(one.index, index) })
	if found {
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
