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
func weighted(weights ...float64) []Spec {
	specs := make([]Spec, len(weights))
	for i, w := range weights {
		specs[i] = Spec{Host: "192.0.2.1", Port: uint16(1000 + i), Weight: w}
	}
	return specs
}

// newTestPool returns a pool without jitter, so that rests can be told exactly.
func newTestPool(specs []Spec) *Pool {
	s := breaker.DefaultSettings()
	s.Jitter = 0
	return New(specs, Options{Breaker: s, Salt: []byte("salt"), ProbeRate: 1000}, epoch)
}

// next leases a proxy or fails the test.
func next(t *testing.T, x *Exchange, now time.Time) *Lease {
	t.Helper()
	l, _, ok := x.Next(now, leaseTime)
	if !ok {
		t.Fatal("no proxy was available")
	}
	return l
}

// trip opens the breaker of the i-th proxy by five failures.
func trip(t *testing.T, p *Pool, i int, now time.Time) {
	t.Helper()
	m := p.Proxies()[i]
	for range 5 {
		permit, _, ok := m.breaker.Acquire(now, leaseTime)
		if !ok {
			t.Fatalf("proxy %d: no permit", i)
		}
		m.breaker.Report(permit, breaker.Verdict{Outcome: breaker.Failure}, now)
	}
	if got := m.breaker.State(now); got != breaker.Open {
		t.Fatalf("proxy %d is %v after five failures", i, got)
	}
}

// serve makes one exchange through whatever proxy comes and lets it succeed.
func serve(p *Pool, now time.Time) (*Proxy, error) {
	x := p.Begin("target.test:443")
	defer x.End(now)
	l, _, ok := x.Next(now, leaseTime)
	if !ok {
		return nil, fmt.Errorf("no proxy was available")
	}
	x.Reached(l, FirstByte, now)
	return l.Proxy, nil
}
