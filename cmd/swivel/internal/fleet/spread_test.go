package fleet_test

import (
	"fmt"
	"testing"
	"time"

	"swivel/breaker"
)

// TestManySlowInstancesShareTheTests: all of them asked for the proxies that were
// due for longest, so that a few had all leases, and made one test a second each,
// while others were due by the hundred.
func TestManySlowInstancesShareTheTests(t *testing.T) {
	var ids []string
	for i := range 40 {
		ids = append(ids, fmt.Sprint("p", i))
	}
	r := newRig(t, 30, ids...)
	for _, id := range ids {
		for range 5 {
			r.nodes[0].attempt(id, breaker.Failure)
		}
	}
	r.pass(30 * time.Second)
	tests := 0
	for range 6 {
		for _, n := range r.nodes { // one exchange a second
			for _, id := range n.leased {
				if probe, _ := n.attempt(id, breaker.Failure); probe {
					tests++
					break
				}
			}
		}
		r.pass(time.Second)
	}
	if tests < 35 {
		t.Errorf("%d of %d proxies were tested", tests, len(ids))
	}
}
