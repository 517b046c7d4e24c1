package faults

import (
	"fmt"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// daemon is a running swivel, which has to stop in order when the test ends.
type daemon struct{ *swiveltest.Daemon }

// startDaemon returns once the daemon says that it is ready.
func startDaemon(t *testing.T, s swiveltest.Setup) daemon {
	t.Helper()
	d := launch(t, s)
	d.AwaitReady(t)
	return d
}

// launch starts a daemon, which may not get far.
func launch(t *testing.T, s swiveltest.Setup) daemon {
	t.Helper()
	d := daemon{swiveltest.Launch(t, s)}
	t.Cleanup(func() { d.Stop(t) })
	return d
}

// held is what a daemon holds while nobody asks anything of it.
type held struct{ files, goroutines int }

func (h held) String() string {
	return fmt.Sprintf("%d descriptors, %d goroutines", h.files, h.goroutines)
}

func (d daemon) holds(t *testing.T) held {
	t.Helper()
	return held{d.Files(t), int(d.Metric(t, "go_goroutines"))}
}

// settles waits until the daemon holds hardly more than it did once. Workers that
// wait for more to do, and a connection of the look itself, come and go.
func (d daemon) settles(t *testing.T, limit time.Duration, before held) held {
	t.Helper()
	var now held
	deadline := time.Now().Add(limit)
	for {
		now = d.holds(t)
		if now.files <= before.files+4 && now.goroutines <= before.goroutines+10 && d.Metric(t, "swivel_in_flight_attempts") == 0 {
			return now
		}
		if time.Now().After(deadline) {
			t.Errorf("after %v it holds %v and carries %v, before it held %v", limit, now, d.Metric(t, "swivel_in_flight_attempts"), before)
			return now
		}
		pass(50 * time.Millisecond)
	}
}
