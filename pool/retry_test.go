package pool

import (
	"testing"
	"time"

	"swivel/breaker"
)

// TestALargeDeadPoolIsNotSearchedForEveryClient has one member that is due
// before the others: what is told must be right although it is kept for a while.
func TestALargeDeadPoolIsNotSearchedForEveryClient(t *testing.T) {
	start := time.Now()
	specs := make([]*Spec, 20_000)
	for i := range specs {
		specs[i] = &Spec{Host: "10.0.0.1", Port: uint16(i + 1), Weight: 1}
	}
	first := true
	p := New(specs, Options{Breaker: breaker.DefaultSettings(), Salt: []byte("salt"), Restore: func(ID) (breaker.Snapshot, bool) {
		next := start.Add(40 * time.Second)
		if first {
			next, first = start.Add(10*time.Second), false
		}
		return breaker.Snapshot{State: breaker.Open, Generation: 2, OpensInRow: 1, Rule: breaker.RuleRun, NextTest: next, LastChange: start}, true
	}}, start)
	began := time.Now()
	for range 1000 {
		p.RetryAfter(start)
	}
	if took := time.Since(began); took > time.Second { // 5 s when all are asked each time
		t.Errorf("a thousand answers took %v", took)
	}
	for _, passed := range []time.Duration{0, 300 * time.Millisecond, 2 * time.Second, 9900 * time.Millisecond, 10 * time.Second, 11 * time.Second} {
		want := max(0, 10*time.Second-passed)
		if got := p.RetryAfter(start.Add(passed)); got != want {
			t.Errorf("after %v: %v, want %v", passed, got, want)
		}
	}
}
