package pool

import (
	"container/heap"
	"math/rand/v2"
	"sync"
	"time"
)

// turns is smooth weighted round-robin: a member of weight w is served every
// 1/w of a common time that passes as members are served (stride scheduling,
// C. A. Waldspurger and W. E. Weihl, 1995). Where in its interval a member
// begins is left to chance, so that restarts do not all begin with the first
// one. A turn costs O(log n). It is safe for concurrent use.
type turns struct {
	members []*Proxy

	mu    sync.Mutex
	queue turnQueue
	in    []bool  // by slot: it is queued
	clock float64 // of the last one served
}

// newTurns returns the turns of the members, of whom none has joined yet.
func newTurns(members []*Proxy) *turns {
	return &turns{members: members, in: make([]bool, len(members))}
}

// turn is a member and when it is to be served.
type turn struct {
	slot int
	at   float64
}

// join has a member take part. It leaves by itself, when it is found unusable.
func (t *turns) join(slot int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.in[slot] {
		t.in[slot] = true
		heap.Push(&t.queue, turn{slot, t.clock + rand.Float64()/t.members[slot].Spec.Weight})
	}
}

// next returns the member whose turn it is, among those that the caller accepts;
// nil if there is none. Who is not accepted keeps its turn. Slow start and
// health lengthen a member's interval.
func (t *turns) next(now time.Time, usable func(slot int) bool, accepts func(*Proxy) bool) *Proxy {
	t.mu.Lock()
	defer t.mu.Unlock()
	var passed []turn
	defer func() {
		for _, one := range passed {
			heap.Push(&t.queue, one)
		}
	}()
	for len(t.queue) > 0 {
		first := t.queue[0]
		m := t.members[first.slot]
		switch {
		case !usable(first.slot):
			heap.Pop(&t.queue)
			t.in[first.slot] = false
		case !accepts(m):
			passed = append(passed, heap.Pop(&t.queue).(turn))
		default:
			t.clock = max(t.clock, first.at)
			t.queue[0].at = t.clock + 1/(m.Spec.Weight*m.breaker.Load().Factor(now))
			heap.Fix(&t.queue, 0)
			return m
		}
	}
	return nil
}

// turnQueue is a binary heap (container/heap).
type turnQueue []turn

// Len implements heap.Interface.
func (q turnQueue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q turnQueue) Less(i, j int) bool { return q[i].at < q[j].at }

// Swap implements heap.Interface.
func (q turnQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *turnQueue) Push(x any) { *q = append(*q, x.(turn)) }

// Pop implements heap.Interface.
func (q *turnQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
