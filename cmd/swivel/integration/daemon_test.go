package integration

import (
	"testing"

	"swivel/cmd/swivel/internal/swiveltest"
)

// daemon is a running swivel.
type daemon struct{ *swiveltest.Daemon }

// startDaemon returns once the daemon says that it is ready.
func startDaemon(t testing.TB, s swiveltest.Setup) daemon {
	t.Helper()
	return daemon{swiveltest.Serve(t, s)}
}

// attemptsOf returns the logged attempts that used the proxy.
func (d daemon) attemptsOf(t testing.TB, id string) (of []swiveltest.Attempt) {
	t.Helper()
	d.AwaitLog(t)
	for _, x := range d.Lines(t, "exchange") {
		for _, a := range x.Attempts {
			if a.Proxy == id {
				of = append(of, a)
			}
		}
	}
	return of
}

// exchangesOver is how many exchanges the daemon has counted.
func (d daemon) exchangesOver(t testing.TB) int {
	t.Helper()
	return int(d.Metric(t, "swivel_exchanges_total"))
}
