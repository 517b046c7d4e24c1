package swiveltest

import (
	"testing"
	"time"
)

// Eventually asks until the answer is yes, and fails the test when that takes
// longer than limit: nothing tells when another process has got somewhere.
func Eventually(t testing.TB, limit time.Duration, what string, yes func() bool) {
	t.Helper()
	deadline := time.After(limit)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !yes() {
		select {
		case <-deadline:
			t.Fatalf("waited %v in vain: %s", limit, what)
		case <-again.C:
		}
	}
}
