package simulate

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/fleet"
	"swivel/pool/budget"
	"swivel/storage"
	"swivel/storage/redis"
)

// node is one instance: its breakers, its policy, and what fleet.Loop does.
type node struct {
	w       *world
	name    string
	skew    time.Duration // its clock is ahead of the hub's
	policy  *fleet.Instance
	members map[int]*member
	resting resting
	probes  *budget.Budget // as in package pool: the share of exchanges that carry a test
	used    bool           // since the policy last asked

	leased []string
	alone  bool
	wanted []string
	noted  []string // while a call is under way

	calling bool
	nudged  bool          // likewise
	callAt  time.Duration // 0: no call is to come
	dead    bool
}

// member is what an instance has of one proxy.
type member struct {
	breaker breaker.Breaker
	index   int
	at      time.Time // the rest is over, by this instance's clock
	place   int       // in resting, from 1 on
}

func newNode(w *world, i int) *node {
	n := &node{w: w, name: fmt.Sprintf("i%07d", i), members: map[int]*member{}, alone: true}
	n.probes = budget.New(0.1, 1, 10, start)
	if w.skew > 0 {
		n.skew = time.Duration(w.random.Int64N(int64(2*w.skew))) - w.skew
	}
	n.policy = fleet.New(n.name, fleet.Settings{Window: w.settings.Window, Times: w.times}, n)
	return n
}

func (n *node) now() time.Time { return start.Add(n.w.now + n.skew) }

// member returns the breaker of a proxy, which comes to be now at the latest.
func (n *node) member(index int) *member {
	m := n.members[index]
	if m == nil {
		m = &member{index: index}
		m.breaker.Begin(n.w.settings, n.w.random.Float64)
		if !n.w.fresh {
			now := n.now()
			p, _, _ := m.breaker.Acquire(now.Add(-2*n.w.settings.Window), time.Minute)
			m.breaker.Report(p, breaker.Verdict{}, now.Add(-2*n.w.settings.Window))
		}
		n.members[index] = m
	}
	return m
}

// plan has the hub called when the policy wants to.
func (n *node) plan() {
	if n.w.apart || n.calling || n.dead {
		return
	}
	at := n.w.now + max(0, n.policy.Next().Sub(n.now()))
	if n.callAt == 0 || at < n.callAt {
		n.callAt = at
		n.w.after(at-n.w.now, func() { n.callIf(at) })
	}
}

// callIf calls the hub, unless the call planned for then was put forward.
func (n *node) callIf(planned time.Duration) {
	if n.callAt != planned || n.calling || n.dead {
		return
	}
	n.callAt, n.calling = 0, true
	w, asked := n.w, n.now()
	s := n.policy.Ask(asked)
	w.after(w.latency/2, func() {
		if w.hubAway {
			w.after(redis.Timeout-w.latency/2, func() { n.failed() })
			return
		}
		s.Now = storage.Moment(start.Add(w.now).UnixMicro())
		before := w.hub.work
		answer, publishes := w.hub.sync(s)
		ready := w.serve(w.hub.work.since(before).takes()) + w.latency/2
		if publishes {
			w.after(ready, func() { w.nudge(n) })
		}
		if ready += w.latency / 2; ready > redis.Timeout || w.random.Float64() < w.loss {
			w.after(redis.Timeout-w.latency/2, func() { n.failed() })
			return
		}
		w.after(ready-w.latency/2, func() { n.heard(answer, asked) })
	})
}

func (w *world) nudge(but *node) {
	for _, n := range w.nodes {
		switch {
		case n == but || n.dead:
		case n.calling:
			n.nudged = true
		default:
			n.policy.Nudged(n.now())
			n.plan()
		}
	}
}

func (n *node) failed() {
	if n.dead {
		return
	}
	n.w.lost++
	n.policy.Failed(n.now())
	n.alone = n.policy.Alone(n.now())
	n.goOn()
}

func (n *node) heard(answer storage.Synced, asked time.Time) {
	if n.dead {
		return
	}
	n.policy.Hear(answer, asked, n.now())
	n.leased, n.alone = n.policy.Leases(), false
	n.w.calls = append(n.w.calls, n.now().Sub(asked))
	n.goOn()
}

// goOn does what came up during a call.
func (n *node) goOn() {
	n.calling = false
	now := n.now()
	if n.nudged {
		n.policy.Nudged(now)
	}
	for _, id := range n.noted {
		n.policy.Note(id, now)
	}
	if len(n.wanted) > 0 {
		n.policy.Want(n.wanted, now)
	}
	n.noted, n.wanted, n.nudged = n.noted[:0], nil, false
	n.plan()
}

// note does with an effect what the daemon does.
func (n *node) note(m *member, e breaker.Effect) {
	now := n.now()
	if e.Moved || m.breaker.Resting() {
		n.resting.update(m, now)
	}
	n.w.observe(n, m, e)
	if !e.Changed || n.w.apart {
		return
	}
	id := n.w.ids[m.index]
	if n.calling {
		n.noted = append(n.noted, id)
		return
	}
	n.policy.Note(id, now)
	n.plan()
}

// want says that a test was not possible for want of a lease.
func (n *node) want(m *member) {
	id := n.w.ids[m.index]
	if !n.calling {
		n.policy.Want([]string{id}, n.now())
		n.plan()
	} else if len(n.wanted) < 64 && !slices.Contains(n.wanted, id) {
		n.wanted = append(n.wanted, id)
	}
}

func (n *node) index(id string) int {
	i, err := strconv.ParseInt(id, 16, 64)
	if err != nil {
		panic(err)
	}
	return int(i)
}

// Share implements fleet.Members.
func (n *node) Share(id string, now time.Time) (breaker.Share, bool) {
	m := n.members[n.index(id)]
	if m == nil {
		return breaker.Share{}, true // as good as one that never changed
	}
	return m.breaker.Share(now), true
}

// Standing implements fleet.Members.
func (n *node) Standing(id string, now time.Time) (s breaker.Standing, edition uint32, probing, ok bool) {
	s, edition, probing = n.member(n.index(id)).breaker.Standing(now)
	return s, edition, probing, true
}

// Learn implements fleet.Members.
func (n *node) Learn(id string, o breaker.Others, now time.Time) {
	m := n.member(n.index(id))
	n.note(m, m.breaker.Learn(o, false, now))
}

// Adopt implements fleet.Members.
func (n *node) Adopt(id string, s breaker.Standing, edition uint32, now time.Time) (uint32, bool) {
	m := n.member(n.index(id))
	e, adopted, ok := m.breaker.Adopt(s, edition, now)
	n.note(m, e)
	return adopted, ok
}

// All implements fleet.Members.
func (n *node) All() []string { return slices.Clone(n.w.ids) }

// Len implements fleet.Members.
func (n *node) Len() int { return len(n.w.ids) }

// DueBy implements fleet.Members.
func (n *node) DueBy(at time.Time, most int) (ids []string) {
	for _, m := range n.resting.firstDue(at, most) {
		ids = append(ids, n.w.ids[m.index])
	}
	return ids
}

// Busy implements fleet.Members.
func (n *node) Busy() bool {
	used := n.used
	n.used = false
	return used
}
