package resilience

import (
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// startDaemon returns once a daemon is ready, which has to stop in order when the
// test ends.
func startDaemon(t *testing.T, s swiveltest.Setup) *swiveltest.Daemon {
	t.Helper()
	d := swiveltest.Serve(t, s)
	t.Cleanup(func() { d.Stop(t) })
	return d
}

// restsUntil is when the proxy may be tried again; the zero time when it may
// at any time.
func restsUntil(m swiveltest.Member) time.Time {
	if m.State != "open" {
		return time.Time{}
	}
	return m.Due()
}

// onlyProbeIsBad says whether an exchange carried a probe, and all its other
// attempts served.
func onlyProbeIsBad(l swiveltest.Line) bool {
	probes := 0
	for _, a := range l.Attempts {
		if a.Probe {
			probes++
		} else if a.Signal != "first_byte" {
			return false
		}
	}
	return probes > 0
}
