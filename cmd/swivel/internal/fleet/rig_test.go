package fleet_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/fleet"
	"swivel/storage"
	"swivel/storage/storetest"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// rig is a fleet in a time that only the test moves.
type rig struct {
	t     testing.TB
	now   time.Time // the hub's
	hub   *storetest.Hub
	away  bool // the hub does not answer
	nodes []*node
}

// node is one instance with its breakers.
type node struct {
	*fleet.Instance
	rig      *rig
	skew     time.Duration // its clock is ahead of the hub's
	breakers map[string]*breaker.Breaker
	ids      []string
	busy     bool
	items    []storage.Item
	leased   []string
	alone    bool
	dead     bool
}

const permit = 10 * time.Second

func newRig(t testing.TB, instances int, proxies ...string) *rig {
	return newSkewedRig(t, make([]time.Duration, instances), proxies...)
}

// newSkewedRig has an instance for each clock.
func newSkewedRig(t testing.TB, skews []time.Duration, proxies ...string) *rig {
	r := &rig{t: t, now: start, hub: storetest.NewHub()}
	for i, skew := range skews {
		n := &node{rig: r, skew: skew, breakers: map[string]*breaker.Breaker{}, ids: proxies, busy: true, alone: true}
		for _, id := range proxies {
			n.breakers[id] = breaker.New(settings(), nil)
			n.attempt(id, breaker.Success)
		}
		n.Instance = fleet.New(fmt.Sprint("i", i), fleet.Settings{Window: settings().Window}, n)
		r.nodes = append(r.nodes, n)
	}
	r.pass(time.Second)
	return r
}

func settings() breaker.Settings {
	s := breaker.DefaultSettings()
	s.Jitter = 0
	return s
}

func (n *node) now() time.Time { return n.rig.now.Add(n.skew) }

// pass lets time go by, in steps, in which each instance calls when it wants to.
func (r *rig) pass(d time.Duration) {
	for end := r.now.Add(d); r.now.Before(end); r.now = r.now.Add(10 * time.Millisecond) {
		for _, n := range r.nodes {
			if !n.dead && !n.now().Before(n.Next()) {
				n.call()
			}
		}
	}
}

func (n *node) call() {
	at := n.now()
	s := n.Ask(at)
	if n.rig.away {
		n.Failed(at)
		n.alone = n.Alone(at)
		return
	}
	s.Now = storage.Moment(n.rig.now.UnixMicro()) // the hub's clock is what decides
	answer, err := n.rig.hub.Sync(context.Background(), s)
	if err != nil {
		n.rig.t.Fatal(err)
	}
	n.items = append(n.items, n.Hear(answer, at, at)...)
	n.leased, n.alone = n.Leases(), false
}

// attempt is one exchange; ok is false if the breaker did not let it pass, or the
// lease for a test is missing.
func (n *node) attempt(id string, o breaker.Outcome) (probe, ok bool) {
	b := n.breakers[id]
	if b.Resting() && !n.alone && !slices.Contains(n.leased, id) {
		if b.Due(n.now()) {
			n.Want([]string{id}, n.now())
		}
		return false, false
	}
	p, e, ok := b.Acquire(n.now(), permit)
	n.note(id, e)
	if !ok {
		return false, false
	}
	n.note(id, b.Report(p, breaker.Verdict{Outcome: o}, n.now()))
	return p.Probe(), true
}

func (n *node) note(id string, e breaker.Effect) {
	if e.Changed && n.Instance != nil {
		n.Note(id, n.now())
	}
}

func (n *node) Share(id string, now time.Time) (breaker.Share, bool) {
	b, ok := n.breakers[id]
	if !ok {
		return breaker.Share{}, false
	}
	return b.Share(now), true
}

func (n *node) Standing(id string, now time.Time) (s breaker.Standing, edition uint32, probing, ok bool) {
	b, ok := n.breakers[id]
	if !ok {
		return s, 0, false, false
	}
	s, edition, probing = b.Standing(now)
	return s, edition, probing, true
}

func (n *node) Learn(id string, o breaker.Others, now time.Time) {
	n.note(id, n.breakers[id].Learn(o, false, now))
}

func (n *node) Adopt(id string, s breaker.Standing, edition uint32, now time.Time) (uint32, bool) {
	e, adopted, ok := n.breakers[id].Adopt(s, edition, now)
	n.note(id, e)
	return adopted, ok
}

func (n *node) All() []string { return slices.Clone(n.ids) }
func (n *node) Len() int      { return len(n.ids) }
func (n *node) Busy() bool    { return n.busy }

func (n *node) DueBy(at time.Time, most int) (due []string) {
	for _, id := range n.ids {
		if b := n.breakers[id]; b.Resting() && b.RetryAfter(at) == 0 && len(due) < most {
			due = append(due, id)
		}
	}
	return due
}

func (n *node) state(id string) breaker.State { return n.breakers[id].State(n.now()) }

func (r *rig) want(id string, s breaker.State) {
	r.t.Helper()
	for i, n := range r.nodes {
		if got := n.state(id); got != s && !n.dead {
			r.t.Errorf("instance %d has %s %v, want %v", i, id, got, s)
		}
	}
}
