package simulate

import (
	"slices"
	"time"

	"swivel/breaker"
)

// How long attempts take that succeed and that fail, and how long a permit for a
// test holds.
const (
	successTakes = 200 * time.Millisecond
	failureTakes = 20 * time.Millisecond
	permitFor    = 10 * time.Second
)

// figures are what is measured in a world.
type figures struct {
	exchanges int // that are over
	served    int
	attempts  int
	failures  int
	lost      int             // calls without an answer
	calls     []time.Duration // how long those with one took

	onAttempt func(n *node, index int, probe, fails bool) // nil, or to be told of each
	onMove    func(n *node, index int, t breaker.Transition)
}

func (w *world) observe(n *node, m *member, e breaker.Effect) {
	if w.onMove == nil {
		return
	}
	for t := range e.Transitions {
		w.onMove(n, m.index, t)
	}
}

// exchange is one client request at an instance.
type exchange struct {
	n     *node
	tried []int
}

// exchange begins one, and the next one later.
func (n *node) exchange() {
	if n.dead {
		return
	}
	n.w.after(n.w.pause(), n.exchange)
	n.probes.Earn()
	x := &exchange{n: n}
	x.attempt()
}

// attempt makes the next attempt, if there is a proxy for it.
func (x *exchange) attempt() {
	n, w := x.n, x.n.w
	m, permit, ok := x.pick()
	if !ok {
		w.exchanges++
		return
	}
	x.tried = append(x.tried, m.index)
	fails, took := w.random.Float64() < w.proxies[m.index], successTakes
	if fails {
		took = failureTakes
	}
	w.attempts++
	if w.onAttempt != nil {
		w.onAttempt(n, m.index, permit.Probe(), fails)
	}
	w.after(took, func() { x.settle(m, permit, fails) })
}

func (x *exchange) settle(m *member, permit breaker.Permit, fails bool) {
	n, w := x.n, x.n.w
	if n.dead {
		return
	}
	n.used = true
	if !fails {
		n.note(m, m.breaker.Report(permit, breaker.Verdict{}, n.now()))
		w.exchanges++
		w.served++
		return
	}
	w.failures++
	n.note(m, m.breaker.Report(permit, breaker.Verdict{Outcome: breaker.Failure}, n.now()))
	if len(x.tried) < w.tries {
		x.attempt()
		return
	}
	w.exchanges++
}

// pick chooses as package pool does: a due proxy, if the exchange may carry a test;
// else one in use, by its factor; and when there is none left, again a due one.
func (x *exchange) pick() (*member, breaker.Permit, bool) {
	n := x.n
	if now := n.now(); len(x.tried) == 0 && n.probes.Tokens(now) >= 1 {
		if m, p, ok := x.pickDue(); ok {
			n.probes.Spend(now)
			return m, p, true
		}
	}
	for range min(64, 8*len(n.w.proxies)) {
		if i := n.w.random.IntN(len(n.w.proxies)); !slices.Contains(x.tried, i) && n.inUse(i) {
			m := n.member(i)
			if p, e, ok := m.breaker.Acquire(n.now(), permitFor); ok {
				n.note(m, e)
				return m, p, true
			}
		}
	}
	return x.pickDue()
}

// inUse decides by chance where a proxy gets less than its share.
func (n *node) inUse(i int) bool {
	m := n.members[i]
	if m == nil {
		return true
	}
	if m.breaker.Resting() {
		return false
	}
	f := m.breaker.Factor(n.now())
	return f >= 1 || n.w.random.Float64() < f
}

// pickDue takes a proxy whose rest is over, and for which there is a lease if it
// takes one.
func (x *exchange) pickDue() (*member, breaker.Permit, bool) {
	n, now := x.n, x.n.now()
	for _, m := range n.testable(now) {
		if slices.Contains(x.tried, m.index) {
			continue
		}
		p, e, ok := m.breaker.Acquire(now, permitFor)
		n.note(m, e)
		if ok {
			return m, p, true
		}
	}
	return nil, breaker.Permit{}, false
}

// testable is as in package pool.
func (n *node) testable(now time.Time) (members []*member) {
	if n.alone {
		return n.resting.firstDue(now, 8)
	}
	for _, id := range n.leased {
		if m := n.members[n.index(id)]; m != nil && m.breaker.Resting() && m.breaker.Ready(now) {
			members = append(members, m)
		}
	}
	if len(members) == 0 {
		for _, m := range n.resting.firstDue(now, 8) {
			n.want(m)
		}
	}
	return members
}
