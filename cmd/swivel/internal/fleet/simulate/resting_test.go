package simulate

import (
	"container/heap"
	"slices"
	"time"
)

// resting are the members whose breaker is not closed, by when they may be tested:
// as in package pool.
type resting []*member

// update puts a member in its place, or takes it out.
func (r *resting) update(m *member, now time.Time) {
	rests := m.breaker.Resting()
	m.at = now.Add(m.breaker.RetryAfter(now))
	switch {
	case rests && m.place > 0:
		heap.Fix(r, m.place-1)
	case rests:
		heap.Push(r, m)
	case m.place > 0:
		heap.Remove(r, m.place-1)
	}
}

// firstDue walks the heap from the top, along those that are due.
func (r resting) firstDue(at time.Time, most int) (due []*member) {
	isDue := func(i int) bool { return i < len(r) && !r[i].at.After(at) }
	var front []int
	for next := []int{0}; len(due) < most; {
		front = append(front, slices.DeleteFunc(next, func(i int) bool { return !isDue(i) })...)
		if len(front) == 0 {
			break
		}
		best := slices.MinFunc(front, func(i, j int) int { return r[i].at.Compare(r[j].at) })
		front = slices.DeleteFunc(front, func(i int) bool { return i == best })
		due = append(due, r[best])
		next = []int{2*best + 1, 2*best + 2}
	}
	return due
}

// Len implements heap.Interface.
func (r resting) Len() int { return len(r) }

// Less implements heap.Interface.
func (r resting) Less(i, j int) bool { return r[i].at.Before(r[j].at) }

// Swap implements heap.Interface.
func (r resting) Swap(i, j int) {
	r[i], r[j] = r[j], r[i]
	r[i].place, r[j].place = i+1, j+1
}

// Push implements heap.Interface.
func (r *resting) Push(x any) {
	m := x.(*member)
	*r = append(*r, m)
	m.place = len(*r)
}

// Pop implements heap.Interface.
func (r *resting) Pop() any {
	last := len(*r) - 1
	m := (*r)[last]
	(*r)[last] = nil
	*r = (*r)[:last]
	m.place = 0
	return m
}
