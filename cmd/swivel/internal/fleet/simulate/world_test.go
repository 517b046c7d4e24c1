package simulate

import (
	"cmp"
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/fleet"
)

// setup is what a world is made of.
type setup struct {
	seed      uint64
	instances int
	proxies   []float64 // which share of the attempts on each fails
	rate      float64   // exchanges a second of each instance
	tries     int       // attempts of an exchange at most; 0 is five
	fresh     bool      // no proxy has ever been used before
	apart     bool      // without a fleet
	times     fleet.Times
	latency   time.Duration // to the hub and back; 0 is 2 ms
	loss      float64       // of answers from the hub
	skew      time.Duration // clocks are off by up to this
}

// world is a fleet in a time of its own. Everything happens in one goroutine, in
// an order that the seed decides.
type world struct {
	setup
	random *rand.Rand
	now    time.Duration // since start
	queue  queue
	count  uint64 // of events so far

	ids      []string
	hub      *hub
	hubBusy  time.Duration // until then
	hubAway  bool
	nodes    []*node
	names    int // instances that there ever were
	settings breaker.Settings

	figures
}

func newWorld(s setup) *world {
	s.tries, s.latency = cmp.Or(s.tries, 5), cmp.Or(s.latency, 2*time.Millisecond)
	if s.times == (fleet.Times{}) {
		s.times = defaults()
	}
	w := &world{setup: s, random: rand.New(rand.NewPCG(s.seed, 1)), hub: newHub(), settings: breaker.DefaultSettings()}
	for i := range s.proxies {
		w.ids = append(w.ids, fmt.Sprintf("%016x", i))
	}
	for range s.instances {
		w.nodes = append(w.nodes, w.start())
	}
	return w
}

// start starts an instance.
func (w *world) start() *node {
	w.names++
	n := newNode(w, w.names)
	if !w.apart {
		w.after(time.Duration(w.random.Int64N(int64(w.times.Beat))), n.plan)
	}
	if w.rate > 0 {
		w.after(w.pause(), n.exchange)
	}
	return n
}

// pause is the time between two exchanges of an instance: they come by chance.
func (w *world) pause() time.Duration {
	return time.Duration(w.random.ExpFloat64() / w.rate * float64(time.Second))
}

// after has something happen when so much time has passed.
func (w *world) after(d time.Duration, what func()) {
	w.count++
	heap.Push(&w.queue, event{w.now + max(d, 0), w.count, what})
}

// pass lets so much time go by.
func (w *world) pass(d time.Duration) {
	end := w.now + d
	for len(w.queue) > 0 && w.queue[0].at <= end {
		e := heap.Pop(&w.queue).(event)
		w.now = e.at
		e.what()
	}
	w.now = end
}

// passUntil lets time go by in steps until something holds, at most so much. It
// returns how long that took, and whether it came to be.
func (w *world) passUntil(holds func() bool, step, most time.Duration) (time.Duration, bool) {
	for began := w.now; ; w.pass(step) {
		if holds() {
			return w.now - began, true
		}
		if w.now-began >= most {
			return w.now - began, false
		}
	}
}

// every has something happen now and again.
func (w *world) every(d time.Duration, what func()) {
	w.after(d, func() {
		what()
		w.every(d, what)
	})
}

// serve has the hub take a call, one after the other as a server does.
func (w *world) serve(takes time.Duration) (ready time.Duration) {
	w.hubBusy = max(w.hubBusy, w.now) + takes
	return w.hubBusy - w.now
}

// event is something that happens.
type event struct {
	at   time.Duration
	nth  uint64 // of two at the same time the earlier made comes first
	what func()
}

// queue is a binary heap (container/heap).
type queue []event

// Len implements heap.Interface.
func (q queue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].nth < q[j].nth
}

// Swap implements heap.Interface.
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push implements heap.Interface.
func (q *queue) Push(x any) { *q = append(*q, x.(event)) }

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = event{}
	*q = (*q)[:last]
	return e
}

func defaults() fleet.Times { return fleet.DefaultTimes() }
