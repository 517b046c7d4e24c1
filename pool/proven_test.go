package pool

import (
	"testing"
	"time"

	"swivel/pool/route"
)

// provenNow is the proxy of an attempt behind the given ones, as NextProven has it;
// nil if it has none.
func provenNow(t *testing.T, p *Pool, target string, now time.Time, tried ...*Proxy) *Proxy {
	t.Helper()
	x := begin(t, p, target, now)
	defer x.End(now)
	for _, m := range tried {
		x.Fail(leaseOf(t, x, m, now), Fault{Signal: TunnelUnused}, now)
	}
	l, _, ok := x.NextProven(now, leaseTime)
	if !ok {
		return nil
	}
	x.Fail(l, Fault{Signal: ClientGone}, now)
	return l.Proxy
}

func TestTheLastAttemptGoesToWhoHasServed(t *testing.T) {
	p := newTestPool(weighted(1000, 1, 1000))
	if m := provenNow(t, p, "x.test:443", epoch); m != nil {
		t.Errorf("%v has served nobody", m.Spec.Port)
	}
	served := p.Proxies()[1]
	reachThrough(t, p, served, "y.test:443", epoch)
	for range 20 {
		if m := provenNow(t, p, "x.test:443", epoch, p.Proxies()[0]); m != served {
			t.Fatalf("%v, want the one that served", m)
		}
	}
}

// TestWhoHasServedButCannotNow: whatever keeps a proxy from being picked keeps it
// from being picked for this.
func TestWhoHasServedButCannotNow(t *testing.T) {
	for name, c := range map[string]func(t *testing.T, p *Pool, m *Proxy) (tried []*Proxy){
		"tried":              func(_ *testing.T, _ *Pool, m *Proxy) []*Proxy { return []*Proxy{m} },
		"tried, and rotates": func(_ *testing.T, _ *Pool, m *Proxy) []*Proxy { m.Spec.Rotating = true; return []*Proxy{m} },
		"failed since": func(t *testing.T, p *Pool, m *Proxy) []*Proxy {
			x := begin(t, p, "z.test:443", epoch)
			x.Fail(leaseOf(t, x, m, epoch), Fault{Signal: DialRefused}, epoch)
			x.End(epoch)
			return nil
		},
		"rests": func(t *testing.T, p *Pool, _ *Proxy) []*Proxy { trip(t, p, 0, epoch); return nil },
		"paused": func(_ *testing.T, p *Pool, m *Proxy) []*Proxy {
			p.Pause([]*Proxy{m}, Pause{Reason: "away"})
			return nil
		},
		"full": func(_ *testing.T, _ *Pool, m *Proxy) []*Proxy { m.most = 1; m.inFlight.Add(1); return nil },
		"banned": func(_ *testing.T, p *Pool, m *Proxy) []*Proxy {
			p.LearnBan(Ban{Proxy: m.ID, Target: "x.test:443", Until: epoch.Add(time.Minute)}, epoch)
			return nil
		},
		"gone":    func(_ *testing.T, p *Pool, _ *Proxy) []*Proxy { p.Replace(weighted(1, 1)[1:], epoch); return nil },
		"drained": func(_ *testing.T, p *Pool, _ *Proxy) []*Proxy { p.Replace(weighted(0, 1), epoch); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			p := newTestPool(weighted(1, 1))
			m := p.Proxies()[0]
			reachThrough(t, p, m, "y.test:443", epoch)
			if got := provenNow(t, p, "x.test:443", epoch); got != m {
				t.Fatalf("%v, want the one that served", got)
			}
			tried := c(t, p, m)
			if got := provenNow(t, p, "x.test:443", epoch, tried...); got != nil {
				t.Errorf("port %d, want none", got.Spec.Port)
			}
		})
	}
}

func TestWhoHasServedOthersIsNotWhatThisClientAskedFor(t *testing.T) {
	p := newTestPool([]*Spec{{Host: "192.0.2.1", Port: 1, Weight: 1, Country: "de"}, {Host: "192.0.2.1", Port: 2, Weight: 1, Country: "fr"}})
	reachThrough(t, p, p.Proxies()[0], "y.test:443", epoch)
	for _, c := range []struct {
		route route.Route
		want  bool
	}{{route.Route{Country: "de"}, true}, {route.Route{Country: "fr"}, false}, {route.Route{Session: "s"}, false}} {
		x, refusal, _ := p.Begin(Request{ID: "test", Target: "x.test:443", Route: c.route}, epoch)
		if refusal != nil {
			t.Fatal(*refusal)
		}
		if l, _, ok := x.NextProven(epoch, leaseTime); ok != c.want {
			t.Errorf("%+v: %v", c.route, l)
		} else if ok {
			x.Fail(l, Fault{Signal: ClientGone}, epoch)
		}
		x.End(epoch)
	}
}

// TestWhoServesMostIsAskedMost: what is remembered is exchanges, and not proxies.
func TestWhoServesMostIsAskedMost(t *testing.T) {
	var s served
	for i := range 3 * latestServed {
		id := ID("much")
		if i%4 == 0 {
			id = "little"
		}
		s.add(servedBy{proxy: id})
	}
	first := map[ID]int{}
	for range 4000 {
		for id := range s.by() {
			first[id]++
			break
		}
	}
	if n := first["little"]; n < 800 || n > 1200 || first["much"]+n != 4000 { // 1000, give or take seven deviations
		t.Error(first)
	}
	n := 0
	for range s.by() {
		n++
	}
	if n != latestServed {
		t.Errorf("%d are remembered", n)
	}
}

// TestFewAmongManyWhoServe: what is remembered of the latest exchanges is all about
// others. Who asks for one of few still gets one that has served.
func TestFewAmongManyWhoServe(t *testing.T) {
	p := newTestPool([]*Spec{{Host: "192.0.2.1", Port: 1, Weight: 1, Country: "de"}, {Host: "192.0.2.1", Port: 2, Weight: 1000, Country: "de"}, {Host: "192.0.2.1", Port: 3, Weight: 1, Country: "us"}})
	rare := p.Proxies()[0]
	reachThrough(t, p, rare, "y.test:443", epoch)
	for range 2 * latestServed {
		reachThrough(t, p, p.Proxies()[2], "y.test:443", epoch)
	}
	x, refusal, _ := p.Begin(Request{ID: "test", Target: "x.test:443", Route: route.Route{Country: "de"}}, epoch)
	if refusal != nil {
		t.Fatal(*refusal)
	}
	defer x.End(epoch)
	l, _, ok := x.NextProven(epoch, leaseTime)
	if !ok || l.Proxy != rare {
		t.Fatal("it was not found")
	}
	x.Fail(l, Fault{Signal: HandshakeClosed}, epoch)
	if l, _, ok := x.NextProven(epoch, leaseTime); ok {
		t.Errorf("port %d: it was tried, or has never served", l.Proxy.Spec.Port)
	}
}
