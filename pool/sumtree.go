package pool

import (
	"iter"
	"math"
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
)

// fanout is how many children a node has: their sums fill one cache line, so
// that a draw costs one miss a level at most.
const fanout = 8

// heaviest is what the greatest weight of a tree counts as. Weights are whole
// numbers in there: sums of those are the same in whatever order they change,
// and a million of the greatest fit into 64 bits.
const (
	heaviestBits = 40
	heaviest     = 1 << heaviestBits
)

// sumTree draws an index with a probability proportional to its weight. Setting
// a weight costs O(log n) as drawing does, so the shares stay right while
// members go and come, however many are out.
//
// Any number may draw, without a lock, while one sets weights: a draw that meets
// sums that are just changing begins anew. The zero value draws nothing.
type sumTree struct {
	unit   float64           // the weight that counts as one
	leaves []atomic.Uint64   // by index, padded to whole nodes
	levels [][]atomic.Uint64 // of sums, from the leaves up; the last has one node
}

// newSumTree returns a tree for n indices, all of weight 0, of which none is to
// become greater than greatest.
func newSumTree(n int, greatest float64) *sumTree {
	t := &sumTree{unit: greatest / heaviest, leaves: make([]atomic.Uint64, padded(n))}
	for below := len(t.leaves); below > fanout; {
		level := make([]atomic.Uint64, padded(below/fanout))
		t.levels = append(t.levels, level)
		below = len(level)
	}
	return t
}

// fill sets all weights of a tree that nobody knows yet.
func (t *sumTree) fill(weights iter.Seq2[int, float64]) {
	for i, w := range weights {
		t.leaves[i].Store(t.whole(w))
	}
	below := t.leaves
	for _, level := range t.levels {
		for i := range below {
			level[i/fanout].Add(below[i].Load())
		}
		below = level
	}
}

// padded is n rounded up to whole nodes.
func padded(n int) int { return (n + fanout - 1) / fanout * fanout }

// set changes the weight of an index. Callers take turns.
func (t *sumTree) set(i int, weight float64) {
	to := t.whole(weight)
	change := to - t.leaves[i].Load() // may wrap, and wraps back when added
	if change == 0 {
		return
	}
	t.leaves[i].Store(to)
	for _, level := range t.levels {
		i /= fanout
		level[i].Add(change)
	}
}

// whole is a weight as the tree counts it. No weight but zero becomes zero.
func (t *sumTree) whole(weight float64) uint64 {
	if weight <= 0 {
		return 0
	}
	return max(1, uint64(math.Round(min(weight/t.unit, heaviest))))
}

// has says whether the index can be drawn.
func (t *sumTree) has(i int) bool { return t.leaves[i].Load() > 0 }

// top is the node that everything starts from.
func (t *sumTree) top() []atomic.Uint64 {
	if len(t.levels) == 0 {
		return t.leaves
	}
	return t.levels[len(t.levels)-1]
}

// total is the sum of all weights, as the tree counts them.
func (t *sumTree) total() (sum uint64) {
	top := t.top()
	for i := range top {
		sum += top[i].Load()
	}
	return sum
}

// draw returns an index, or -1 when every weight is zero.
func (t *sumTree) draw() int {
	total := t.total()
	if i, ok := t.throw(total); ok {
		return i
	}
	for ; ; total = t.total() {
		if total == 0 {
			return -1
		}
		if i, ok := t.find(rand.Uint64N(total)); ok {
			return i
		}
	}
}

// throws is how often throw tries its luck.
const throws = 4

// throw draws without walking down the tree, which costs a cache miss a level:
// it takes any index, and keeps it with a probability proportional to its
// weight. What it returns therefore is distributed as what find returns. False:
// luck kept none, or was not tried since it would rather not, as too many are out
// or the weights too different.
func (t *sumTree) throw(total uint64) (int, bool) {
	n := uint64(len(t.leaves))
	if n <= fanout*fanout || total/heaviest < n/throws {
		return 0, false
	}
	for range throws {
		i, fraction := bits.Mul64(rand.Uint64(), n)
		if fraction>>(64-heaviestBits) < t.leaves[i].Load() {
			return int(i), true
		}
	}
	return 0, false
}

// find returns the index within whose share of the total r lies; false when the
// sums changed on the way.
func (t *sumTree) find(r uint64) (int, bool) {
	i, ok := within(t.top(), 0, &r)
	for level := len(t.levels) - 2; ok && level >= 0; level-- {
		i, ok = within(t.levels[level], i*fanout, &r)
	}
	if ok && len(t.levels) > 0 {
		i, ok = within(t.leaves, i*fanout, &r)
	}
	return i, ok
}

// within finds the child, of those of one node, in whose share r lies, and takes
// from r what lies before it.
func within(level []atomic.Uint64, first int, r *uint64) (int, bool) {
	node := level[first : first+fanout : first+fanout]
	for i := range node {
		w := node[i].Load()
		if *r < w {
			return first + i, true
		}
		*r -= w
	}
	return 0, false
}
