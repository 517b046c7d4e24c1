// Package leaktest finds what a test leaves behind in its own process: goroutines
// and descriptors. Whoever opens connections begins a test with Watch. Linux only.
//
// It looks at the whole process, so tests that it watches cannot run in parallel
// with others.
package leaktest

import (
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"
)

// limit is how long what has been closed may take to be gone.
const limit = 10 * time.Second

// Watch fails the test if it ends with more descriptors or goroutines than it has
// now. What is cleaned up by functions that the test registers later does not count.
// A fuzz test is not looked at, since it has goroutines of its own, nor one that
// has failed: what it waited for in vain may still be there.
func Watch(t testing.TB) {
	t.Helper()
	watch(t, limit)
}

func watch(t testing.TB, limit time.Duration) {
	t.Helper()
	files, goroutines := OpenFiles(t), runtime.NumGoroutine()
	if _, fuzzes := t.(*testing.F); fuzzes {
		return
	}
	t.Cleanup(func() {
		left := func() bool { return OpenFiles(t) > files || runtime.NumGoroutine() > goroutines }
		for end := time.Now().Add(limit); left() && !t.Failed(); time.Sleep(time.Millisecond) {
			// The runtime keeps the pipes of splice in a pool that only a collection empties.
			if runtime.GC(); time.Now().After(end) {
				stacks := make([]byte, 64<<10)
				stacks = stacks[:runtime.Stack(stacks, true)]
				t.Errorf("left behind: %d descriptors (were %d), %d goroutines (were %d)\n%s",
					OpenFiles(t), files, runtime.NumGoroutine(), goroutines, stacks)
			}
		}
	})
}

// useNetwork once before any descriptors are counted: the runtime opens two of its
// own the first time.
var useNetwork = sync.OnceFunc(func() {
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		_ = l.Close()
	}
})

// OpenFiles is how many descriptors the process has.
func OpenFiles(t testing.TB) int {
	t.Helper()
	useNetwork()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatalf("descriptors cannot be counted: %v", err)
	}
	return len(names)
}
