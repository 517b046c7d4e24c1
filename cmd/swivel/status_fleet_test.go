package main

import (
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/admin"
)

func TestStatusSaysThatThereIsNoFleet(t *testing.T) {
	r := newRig(t, "192.0.2.1:1 name=a")
	if code, out, errOut := r.ask("status", "--fleet"); code != exitOK || out != "this daemon belongs to no fleet (serve --fleet)\n" {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	if code, out, _ := r.ask("status", "--fleet", "--json"); code != exitOK || !strings.HasPrefix(out, `{"enabled":false`) {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestStatusShowsTheFleet(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	f := admin.Fleet{Enabled: true, Up: true, Instances: 3, CallMS: 0.4, BehindS: 2.5, Leases: 2, Pending: 7, LagS: 0.2, Told: 10, Learnt: 11, Calls: 12}
	want := `server      up, answers in 0.4ms
instances   3 seen by the server in the last five seconds
clock       2.5s behind the server's
leases      2 resting proxies may be tested from here
to be told  7, for 0.2s
so far      told of proxies 10 times, learnt 11 times, 12 calls, 0 failed
`
	if got := fleetText(f, now); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	f.Up, f.Alone, f.Answered, f.Problem = false, true, 1_700_000_000-90, "redis: it says OOM"
	if got := fleetText(f, now); !strings.HasPrefix(got, "server      down, silent for 1m30s; this instance works on its own\n            redis: it says OOM\n") {
		t.Error(got)
	}
}
