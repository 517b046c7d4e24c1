package pool

import (
	"fmt"
	"testing"
	"time"

	"swivel/breaker"
)

// epoch is when the tests begin; nothing here reads a clock.
var epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// leaseTime is long enough for every attempt of a test.
const leaseTime = 30 * time.Second

// weighted returns one proxy for each weight.
func weighted(weights ...float64) []*Spec {
	specs := make([]*Spec, len(weights))
	for i, w := range weights {
		specs[i] = &Spec{Host: "192.0.2.1", Port: uint16(1000 + i), Weight: w}
	}
	return specs
}

// newTestPool returns a pool without jitter, so that rests can be told exactly.
func newTestPool(specs []*Spec) *Pool {
	s := breaker.DefaultSettings()
	s.Jitter = 0
	s.Window = time.Minute
	return New(specs, Options{Breaker: s, Salt: []byte("salt"), ProbeRate: 1000}, epoch)
}

// begin starts an exchange that must not be refused.
func begin(t *testing.T, p *Pool, target string, now time.Time) *Exchange {
	t.Helper()
	x, refusal, _ := p.Begin(Request{ID: "test", Target: target}, now)
	if refusal != nil {
		t.Fatalf("exchange for %s refused: %+v", target, *refusal)
	}
	return x
}

// next leases a proxy or fails the test.
func next(t *testing.T, x *Exchange, now time.Time) *Lease {
	t.Helper()
	l, _, ok := x.Next(now, leaseTime, true)
	if !ok {
		t.Fatal("no proxy was available")
	}
	return l
}

// failOn makes one exchange in which up to n attempts end with the signal.
func failOn(t *testing.T, p *Pool, target string, n int, s Signal, now time.Time) *Exchange {
	t.Helper()
	x := begin(t, p, target, now)
	for range n {
		l, _, ok := x.Next(now, leaseTime, true)
		if !ok {
			break
		}
		x.Fail(l, Fault{Signal: s}, now)
	}
	x.End(now)
	return x
}

// reach lets every proxy of the pool reach the target once.
func reach(t *testing.T, p *Pool, target string, now time.Time) {
	t.Helper()
	for _, m := range p.Proxies() {
		reachThrough(t, p, m, target, now)
	}
}

// reachThrough lets one proxy reach the target.
func reachThrough(t *testing.T, p *Pool, m *Proxy, target string, now time.Time) {
	t.Helper()
	x := begin(t, p, target, now)
	x.Reached(leaseOf(t, x, m, now), FirstByte, 0, now)
	x.End(now)
}

// leaseOf leases a certain proxy, as if the draw had met it.
func leaseOf(t *testing.T, x *Exchange, m *Proxy, now time.Time) *Lease {
	t.Helper()
	permit, _, ok := m.breaker.Load().Acquire(now, leaseTime)
	if !ok {
		t.Fatalf("no permit of %v", m.Spec.Port)
	}
	l := &Lease{Proxy: m, permit: permits{own: permit}, Probe: permit.Probe(), Started: now, index: int32(len(x.attempts))}
	x.attempts = append(x.attempts, Attempt{Proxy: m, Probe: l.Probe, Outcome: breaker.Ignored, Started: now})
	x.running++
	return l
}

// trip has the i-th proxy succeed once, and opens its breaker by five failures.
func trip(t *testing.T, p *Pool, i int, now time.Time) {
	t.Helper()
	m := p.Proxies()[i]
	for i := range 6 {
		permit, _, ok := m.breaker.Load().Acquire(now, leaseTime)
		if !ok {
			t.Fatalf("port %d: no permit", m.Spec.Port)
		}
		v := breaker.Verdict{Outcome: breaker.Failure}
		if i == 0 {
			v.Outcome = breaker.Success
		}
		p.settle(m, permits{own: permit}, v, Event{}, now, new([]Event))
	}
	if got := m.breaker.Load().State(now); got != breaker.Open {
		t.Fatalf("proxy %d is %v after five failures", i, got)
	}
}

// serve makes one exchange through whatever proxy comes and lets it succeed.
func serve(p *Pool, now time.Time) (*Proxy, error) {
	x, refusal, _ := p.Begin(Request{ID: "test", Target: "target.test:443"}, now)
	if refusal != nil {
		return nil, fmt.Errorf("refused: %+v", *refusal)
	}
	defer x.End(now)
	l, _, ok := x.Next(now, leaseTime, true)
	if !ok {
		return nil, fmt.Errorf("no proxy was available")
	}
	x.Reached(l, FirstByte, 0, now)
	l.Release()
	return l.Proxy, nil
}

// index returns where the member stands among all.
func index(t *testing.T, p *Pool, m *Proxy) int {
	t.Helper()
	place, ok := p.current.Load().place(m.ID)
	if !ok {
		t.Fatal("no member")
	}
	return place
}
