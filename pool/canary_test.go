package pool

import (
	"slices"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool/route"
)

func canary(t *testing.T, p *Pool, now time.Time) *Exchange {
	t.Helper()
	x, refusal, _ := p.Begin(Request{ID: "canary", Target: "canary.test:443", Canary: true}, now)
	if refusal != nil {
		t.Fatalf("%+v", *refusal)
	}
	return x
}

// dueAfter trips the first proxies of the pool and returns when they are due.
func dueAfter(t *testing.T, p *Pool, n int) time.Time {
	t.Helper()
	for i := range n {
		trip(t, p, i, epoch)
	}
	return epoch.Add(30 * time.Second)
}

func TestWithACanaryClientsTestNobodyAsLongAsOthersServe(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	due := dueAfter(t, p, 1)
	p.TestApart(true)
	for range 50 {
		if l := next(t, begin(t, p, "a.test:443", due), due); l.Probe {
			t.Fatal("a client tests a resting proxy")
		}
	}
	session, _, _ := p.Begin(Request{ID: "s", Target: "a.test:443", Route: route.Route{Session: "s1"}}, due)
	if _, _, ok := session.Aside(due, leaseTime); ok {
		t.Error("a session tests a resting proxy")
	}
	if l, _, ok := canary(t, p, due).Aside(due, leaseTime); !ok || l.Proxy != p.Proxies()[0] || !l.Probe {
		t.Error("the canary does not")
	}
	trip(t, p, 1, due)
	later := due.Add(10 * time.Minute) // when the lease of the canary is lost, too
	if l := next(t, begin(t, p, "a.test:443", later), later); !l.Probe {
		t.Error("nobody else is left, and a client gets nobody")
	}
}

func TestACanaryTakesAllThatAreDueAndNobodyElse(t *testing.T) {
	p := newTestPool(weighted(slices.Repeat([]float64{1}, 40)...))
	due := dueAfter(t, p, 30)
	x := canary(t, p, due)
	taken := 0
	for l, _, ok := x.Aside(due, leaseTime); ok; l, _, ok = x.Aside(due, leaseTime) {
		if taken++; !l.Probe {
			t.Fatal("no probe")
		}
	}
	if taken != 30 {
		t.Errorf("%d of 30", taken)
	}
}

func TestACanaryIsCountedApartAndNothingIsReportedOfIt(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	due := dueAfter(t, p, 1)
	before := p.Settled()
	x := canary(t, p, due)
	l, _, ok := x.Aside(due, leaseTime)
	if !ok {
		t.Fatal("nobody is due")
	}
	x.Reached(l, Response, time.Millisecond, due)
	x.End(due)
	if got := p.SettledCanaries()[Response][breaker.Success]; got != 1 || p.Settled() != before {
		t.Errorf("%d canaries", got)
	}
	if _, ok := p.served.find("canary"); ok {
		t.Error("a client may report what the canary got")
	}
}
