package integration

import (
	"syscall"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// TestStopGivesTunnelsTheirGrace: a SIGTERM with ten tunnels open ends the
// listener at once and the tunnels when the grace is over, and exits with 0.
func TestStopGivesTunnelsTheirGrace(t *testing.T) {
	const grace = 2 * time.Second
	d, tunnels := withTunnels(t, 10, "SWIVEL_GRACE="+grace.String())
	asked := time.Now()
	d.Signal(t, syscall.SIGTERM)
	swiveltest.Eventually(t, grace, "new clients are refused", func() bool { return refuses(d.Listen) })
	for i, u := range tunnels {
		if !u.works() {
			t.Errorf("tunnel %d was cut although its grace had %v left", i, grace-time.Since(asked))
		}
	}
	if code := d.Wait(t, grace+10*time.Second); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if took := time.Since(asked); took < grace {
		t.Errorf("it ended %v after the signal, but the tunnels had %v", took, grace)
	}
	for i, u := range tunnels {
		if u.works() {
			t.Errorf("tunnel %d outlives the daemon", i)
		}
	}
}

// TestStopDoesNotWaitForNothing: when the last tunnel ends, so does the daemon.
func TestStopDoesNotWaitForNothing(t *testing.T) {
	d, tunnels := withTunnels(t, 10, "SWIVEL_GRACE=10m")
	d.Signal(t, syscall.SIGTERM)
	swiveltest.Eventually(t, 5*time.Second, "new clients are refused", func() bool { return refuses(d.Listen) })
	for _, u := range tunnels {
		_ = u.Close()
	}
	if code := d.Wait(t, 10*time.Second); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// TestSecondSignalStopsAtOnce, grace or not; that it was no orderly end shows
// in the exit code.
func TestSecondSignalStopsAtOnce(t *testing.T) {
	d, _ := withTunnels(t, 1, "SWIVEL_GRACE=10m")
	d.Signal(t, syscall.SIGTERM)
	swiveltest.Eventually(t, 5*time.Second, "new clients are refused", func() bool { return refuses(d.Listen) })
	d.Signal(t, syscall.SIGTERM)
	if code := d.Wait(t, 5*time.Second); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}

// TestStopWritesWhatIsNotYetStored: a failure that opens nothing is written
// within a second at the latest, and at once when the daemon stops.
func TestStopWritesWhatIsNotYetStored(t *testing.T) {
	o, sound, dead := newOrigin(t), newToy(t, "127.0.0.32"), newToy(t, "127.0.0.31")
	sound.open(t, carry)
	d := startDaemon(t, swiveltest.Setup{Lines: []string{dead.hostPort + " name=dead", sound.hostPort}})
	id := d.Member(t, "dead").ID
	client := d.browse(o)
	swiveltest.Eventually(t, 20*time.Second, "a request meets the dead proxy", func() bool {
		if _, err := get(client, o.https+"/ip"); err != nil {
			t.Fatal(err)
		}
		return len(d.attemptsOf(t, id)) > 0
	})
	d.Signal(t, syscall.SIGTERM)
	if code := d.Wait(t, 10*time.Second); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	want := len(d.attemptsOf(t, id)) // now that the log is complete
	if row, ok := storedState(t, d.DB, id); !ok || row.failures != want || row.state != "closed" {
		t.Errorf("the database holds %+v (found: %v), want closed with %d failures", row, ok, want)
	}
}

// withTunnels starts a daemon and opens that many tunnels through it.
func withTunnels(t *testing.T, n int, env ...string) (daemon, []*tunnel) {
	t.Helper()
	upstream, echo := newToy(t, "127.0.0.32"), newEcho(t)
	upstream.open(t, carry)
	d := startDaemon(t, swiveltest.Setup{Lines: []string{upstream.hostPort}, Env: env})
	tunnels := make([]*tunnel, n)
	for i := range tunnels {
		tunnels[i] = openTunnel(t, d.Listen, echo)
		if !tunnels[i].works() {
			t.Fatalf("tunnel %d does not work", i)
		}
	}
	return d, tunnels
}
