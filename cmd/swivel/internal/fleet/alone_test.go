package fleet_test

import (
	"testing"
	"time"

	"swivel/breaker"
)

// TestOneLostAnswerIsNoReasonToTestAlone: a call may take a second, and after a
// second without an answer each instance tested everything that was due. A hub that
// was stuck for a moment cost as many tests as there were instances.
func TestOneLostAnswerIsNoReasonToTestAlone(t *testing.T) {
	r := newRig(t, 3, "p")
	r.fail("p", time.Second)
	r.pass(25 * time.Second)
	r.away = true
	r.pass(1500 * time.Millisecond)
	r.away = false
	r.pass(time.Second)
	r.away = true
	r.pass(2500 * time.Millisecond)
	for i, n := range r.nodes {
		if n.alone {
			t.Errorf("instance %d is on its own", i)
		}
	}
	r.pass(time.Second)
	if probe, _ := r.nodes[0].attempt("p", breaker.Failure); !probe {
		t.Error("no test without a hub")
	}
}
