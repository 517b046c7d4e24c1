package pool

import (
	"fmt"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool/route"
)

// reasons lists who is skipped why, by port, and the shares of the others.
func reasons(e Explanation) map[uint16]string {
	out := map[uint16]string{}
	for _, c := range e.Chances {
		out[c.Proxy.Spec.Port] = c.Skip.String()
		if c.Skip == InUse {
			out[c.Proxy.Spec.Port] = fmt.Sprintf("%.2f", c.Share)
		}
	}
	return out
}

func TestExplainNamesEveryReason(t *testing.T) {
	specs := weighted(3, 1, 0, 1, 1, 1, 1, 1)
	for i := range specs {
		specs[i].Country = "de"
	}
	specs[3].Country = "us"
	specs[5].MaxInFlight = 1
	specs[6].Rate = 1
	p := newTestPool(specs)
	all := p.Proxies()
	p.Pause(all[4:5], Pause{Reason: "why"})
	all[5].inFlight.Add(1)
	all[6].enter(epoch)
	trip(t, p, 7, epoch)
	x := begin(t, p, "target.test:443", epoch)
	x.Ban(&Lease{Proxy: all[1]}, time.Minute, epoch)
	r := Request{Target: "target.test:443", Route: route.Route{Country: "de"}}
	e := p.Explain(r, epoch.Add(time.Second/2))
	want := map[uint16]string{1000: "1.00", 1001: "banned", 1002: "drained", 1003: "mismatch", 1004: "paused", 1005: "full", 1006: "over_rate", 1007: "open"}
	got := reasons(e)
	for port, word := range want {
		if got[port] != word {
			t.Errorf("%d: %s, want %s", port, got[port], word)
		}
	}
	if e.RetryAfter != 0 || e.Chances[0].Proxy != all[0] {
		t.Errorf("may be picked in %v; the first is %d", e.RetryAfter, e.Chances[0].Proxy.Spec.Port)
	}
	for _, c := range e.Chances {
		if c.Skip == Full && c.After != 0 {
			t.Errorf("full for another %v, which nobody knows", c.After)
		}
		if c.Skip == Open && c.After != 29500*time.Millisecond || c.Skip == Banned && c.After != 59500*time.Millisecond {
			t.Errorf("%v is over in %v", c.Skip, c.After)
		}
	}
}

func TestExplainOfASession(t *testing.T) {
	p := newTestPool(ones(4))
	r := Request{Target: "target.test:443", Client: "me", Route: route.Route{Session: "s"}}
	if e := p.Explain(r, epoch); e.Home != "" || e.Chances[0].Share != 0.25 || p.Sessions() != 0 {
		t.Errorf("a new session: %+v", e)
	}
	home := visit(t, p, "s", false, epoch).Proxy
	if e := p.Explain(r, epoch); e.Home != home.ID || e.Chances[0].Proxy != home || e.Chances[0].Share != 1 {
		t.Errorf("a session at home: %+v", e)
	}
	trip(t, p, index(t, p, home), epoch)
	if e := p.Explain(r, epoch); e.Home != home.ID || len(e.Chances) != 4 || e.Chances[0].Weight != 1 || e.Chances[3].Proxy != home {
		t.Errorf("a session whose proxy rests: %+v", e)
	}
}

func TestExplainChangesNothing(t *testing.T) {
	p := newTestPool(ones(1))
	trip(t, p, 0, epoch)
	due := epoch.Add(time.Minute)
	for range 3 {
		if e := p.Explain(Request{Target: "target.test:443"}, due); e.Chances[0].Skip != Open || e.RetryAfter != 0 {
			t.Errorf("a due proxy: %+v", e)
		}
	}
	if got := p.Proxies()[0].breaker.Load().State(due); got != breaker.Open {
		t.Errorf("the breaker is %v now", got)
	}
}
