package main

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/admin"
	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/eventlog/logtest"
	"swivel/cmd/swivel/internal/swiveltest"
)

// open opens the breaker of a proxy.
func (r *rig) open(name string) {
	r.t.Helper()
	for _, m := range r.d.Pool().Proxies() {
		if m.Spec.Name != name {
			continue
		}
		now := time.Now()
		permit, _, ok := m.Breaker().Acquire(now, time.Minute)
		if !ok {
			r.t.Fatal("not granted")
		}
		m.Breaker().Report(permit, breaker.Verdict{Outcome: breaker.Refused}, now)
	}
}

func TestStatusShowsWhatNeedsALookFirst(t *testing.T) {
	r := newRig(t, "192.0.2.1:1 name=closed", "192.0.2.1:2 name=open weight=2", "192.0.2.1:3 name=paused", "192.0.2.1:4 name=drained", "192.0.2.1:5 name=weightless weight=0")
	r.open("open")
	r.ask("pause", "paused", "--reason", "vendor maintenance", "--by", "alice")
	r.ask("drain", "drained", "--reason", "invoice", "--by", "bob")
	code, out, errOut := r.ask("status")
	lines := strings.Split(out, "\n")
	if code != exitOK || lines[0] != "5 proxies: 1 closed, 2 drained, 1 paused, 1 open; 0 in flight" || len(lines) != 9 {
		t.Fatalf("exit code %d: %s%s", code, out, errOut)
	}
	for i, want := range []string{
		"PROXY ID STATE WEIGHT NOW IN FLIGHT SUCCESS LATENCY WHY",
		"open " + r.id("open") + " open 2 0 0 - - refused, for another ",
		"paused " + r.id("paused") + " paused 1 0 0 - - vendor maintenance, says alice (127.0.0.1)",
		"drained " + r.id("drained") + " drained 1 0 0 - - invoice, says bob (127.0.0.1)",
		"weightless " + r.id("weightless") + " drained 0 0 0 - - weight=0",
		"closed " + r.id("closed") + " closed 1 1 0",
	} {
		if got := strings.Join(strings.Fields(lines[2+i]), " "); !strings.HasPrefix(got, want) {
			t.Errorf("line %q, want %q", got, want)
		}
	}
	if _, out, _ := r.ask("status", "--state", "paused,drained", "--limit", "2"); strings.Count(out, "192.0.2.1")+strings.Count(out, "127.0.0.1") != 2 || !strings.HasSuffix(out, "\n... and 1 more (--limit 0)\n") {
		t.Error(out)
	}
	code, out, _ = r.ask("status", "--json", "--state", "open")
	var some []admin.Proxy
	if err := json.Unmarshal([]byte(out), &some); err != nil || code != exitOK || len(some) != 1 || some[0].Name != "open" {
		t.Errorf("%v: %s", err, out)
	}
	for _, args := range [][]string{{"--state", "broken"}, {"--watch", "--interval", "1ms"}} {
		if code, out, errOut := r.ask(append([]string{"status"}, args...)...); code != exitUsage {
			t.Errorf("%q: exit code %d: %s%s", args, code, out, errOut)
		}
	}
}

func TestStatusDidNotSayThatAProxyIsOverdue(t *testing.T) {
	p := admin.Proxy{Name: "hole", State: "closed", Overdue: true}
	if got := remark(p, time.Now()); !strings.HasPrefix(got, "overdue: ") {
		t.Errorf("%q", got)
	}
	at := 0.0
	p.State, p.Cause, p.NextTestTime = "open", "run", &at
	if got := remark(p, time.Now()); got != "run, due for a test" {
		t.Errorf("%q of one that rests as well", got)
	}
}

func TestOneProxyWasCountedAsProxies(t *testing.T) {
	if got := countText([]admin.Proxy{{State: "closed"}}); got != "1 proxy: 1 closed; 0 in flight" {
		t.Error(got)
	}
}

func TestWatchGoesOnUntilItIsEnded(t *testing.T) {
	r := newRig(t, "192.0.2.1:1 name=a")
	ctx, cancel := context.WithCancel(t.Context())
	c := statusCmd{Interval: config.Duration(time.Millisecond), Limit: -1}
	var out logtest.Buffer
	var watching sync.WaitGroup
	watching.Go(func() {
		if err := c.watch(ctx, asked{"status", r.d.AdminAddr().String(), ""}, &out); err != nil {
			t.Error(err)
		}
	})
	r.ask("pause", "a", "--reason", "why")
	swiveltest.Eventually(t, 20*time.Second, "the pause is shown, and shown again", func() bool { return strings.Count(out.String(), "0 closed, 1 paused;") > 1 })
	cancel()
	watching.Wait()
}

func TestStatusFitsTheTerminal(t *testing.T) {
	if got := fit("short\näöüäöü\nlonger than that\n", 6); got != "short\näöüäöü\nlonge…\n" {
		t.Errorf("%q", got)
	}
	if got := fit("any length\n", 0); got != "any length\n" {
		t.Errorf("%q", got)
	}
}
