package pool

import (
	"container/heap"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// resting are the members whose breaker is not closed, by when they may be
// tried next: so the one that is due for longest is probed first, and finding it
// costs the same in a pool of any size. It is safe for concurrent use. The zero
// value is empty.
type resting struct {
	// next repeats, without the lock, when the first of them is due, in unix
	// nanoseconds: almost every pick has nothing to do here.
	next atomic.Int64

	mu    sync.Mutex
	queue restingQueue
}

// update puts a member in its place, or takes it out when its breaker is closed.
func (r *resting) update(m *Proxy, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rests := m.Spec.Weight > 0 && m.breaker.Load().Resting()
	at := now.Add(m.breaker.Load().RetryAfter(now)).UnixNano()
	switch queued := m.place > 0; {
	case rests && queued:
		r.queue[m.place-1] = rest{m, at}
		heap.Fix(&r.queue, int(m.place)-1)
	case rests:
		heap.Push(&r.queue, rest{m, at})
	case queued:
		heap.Remove(&r.queue, int(m.place)-1)
	}
	r.publish()
}

// follow makes the members of a snapshot the only content. What happens meanwhile
// to one of them is what update is told.
func (r *resting) follow(s *snapshot, now time.Time, b *breath) {
	for i, m := range r.proxies() {
		b.take(i)
		if place, in := s.place(m.ID); !in || s.proxies[place].runtime != m.runtime {
			r.remove(m)
		}
	}
	for i, m := range s.proxies {
		b.take(i)
		if m.breaker.Load().Resting() {
			r.update(m, now)
		}
	}
}

func (r *resting) proxies() []*Proxy {
	r.mu.Lock()
	defer r.mu.Unlock()
	proxies := make([]*Proxy, len(r.queue))
	for i := range r.queue {
		proxies[i] = r.queue[i].proxy
	}
	return proxies
}

func (r *resting) remove(m *Proxy) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.place > 0 {
		heap.Remove(&r.queue, int(m.place)-1)
		r.publish()
	}
}

func (r *resting) publish() {
	next := int64(math.MaxInt64)
	if len(r.queue) > 0 {
		next = r.queue[0].at
	}
	r.next.Store(next)
}

// due returns members whose time has come, those that wait for longest first,
// at most a few: the caller may have to pass over some.
func (r *resting) due(now time.Time) []*Proxy {
	at := now.UnixNano()
	if next := r.next.Load(); next == 0 || next > at {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.queue.firstDue(at, 8)
}

// rest is one member and when it may be tried next.
type rest struct {
	proxy *Proxy
	at    int64 // unix nanoseconds
}

// restingQueue is a binary heap (container/heap).
type restingQueue []rest

// firstDue walks the heap from the top, along those that are due.
func (q restingQueue) firstDue(at int64, most int) (due []*Proxy) {
	if len(q) == 0 || q[0].at > at {
		return nil
	}
	front := []int{0}
	for len(front) > 0 && len(due) < most {
		best := 0
		for i := range front {
			if q[front[i]].at < q[front[best]].at {
				best = i
			}
		}
		i := front[best]
		front = append(front[:best], front[best+1:]...)
		due = append(due, q[i].proxy)
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(q) && q[child].at <= at {
				front = append(front, child)
			}
		}
	}
	return due
}

// Len implements heap.Interface.
func (q restingQueue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q restingQueue) Less(i, j int) bool { return q[i].at < q[j].at }

// Swap implements heap.Interface.
func (q restingQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].proxy.place, q[j].proxy.place = int32(i+1), int32(j+1)
}

// Push implements heap.Interface.
func (q *restingQueue) Push(x any) {
	one := x.(rest)
	*q = append(*q, one)
	one.proxy.place = int32(len(*q))
}

// Pop implements heap.Interface.
func (q *restingQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	last.proxy.place = 0
	return last
}
