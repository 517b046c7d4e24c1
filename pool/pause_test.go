package pool

import (
	"strconv"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool/route"
)

func TestAPausedProxyIsNotPicked(t *testing.T) {
	p := newTestPool(weighted(1000, 1))
	paused := p.Proxies()[0]
	p.Pause([]*Proxy{paused}, Pause{Reason: "maintenance", At: epoch})
	for range 200 {
		if m, err := serve(p, epoch); err != nil || m == paused {
			t.Fatalf("picked %v, error %v", m == paused, err)
		}
	}
	if got := paused.Paused(); got == nil || got.Reason != "maintenance" {
		t.Errorf("paused as %+v", got)
	}
	if n := p.Resume([]*Proxy{paused, p.Proxies()[1]}); n != 1 {
		t.Errorf("%d resumed", n)
	}
	picked := false
	for range 200 {
		m, _ := serve(p, epoch)
		picked = picked || m == paused
	}
	if !picked {
		t.Error("not picked after it was resumed")
	}
}

func TestAPausedProxyIsNotProbedEither(t *testing.T) {
	p := newTestPool(weighted(1))
	trip(t, p, 0, epoch)
	p.Pause(p.Proxies(), Pause{Reason: "gone", At: epoch})
	due := epoch.Add(time.Minute)
	if _, _, ok := begin(t, p, "a.test:1", due).Next(due, leaseTime, true); ok {
		t.Error("a paused proxy was leased as a probe")
	}
	if got := p.RetryAfter(due); got != time.Minute {
		t.Errorf("RetryAfter %v counts a paused proxy", got)
	}
}

func TestAPauseSurvivesAReload(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	p.Pause(p.Proxies()[:1], Pause{Reason: "maintenance", At: epoch})
	p.Replace(weighted(2, 2), epoch)
	if p.Proxies()[0].Paused() == nil || p.Proxies()[1].Paused() != nil {
		t.Error("the reload lost or spread a pause")
	}
}

func TestAPauseDuringAReloadHoldsWhateverClientsAskFor(t *testing.T) {
	specs := weighted(1000, 1)
	for _, s := range specs {
		s.Country = "us"
	}
	p := newTestPool(specs)
	fromUS := func() *Lease {
		x, _, _ := p.Begin(Request{Target: "a.test:443", Route: route.Route{Country: "us"}}, epoch)
		return next(t, x, epoch)
	}
	fromUS()
	reloaded, _ := p.build(specs, epoch, atOnce)
	paused := p.Proxies()[0]
	p.Pause([]*Proxy{paused}, Pause{Reason: "maintenance", At: epoch})
	p.publish(reloaded, epoch, atOnce)
	if fromUS().Proxy == paused {
		t.Fatal("picked although it is paused")
	}
	reloaded, _ = p.build(specs, epoch, atOnce)
	p.Resume([]*Proxy{paused})
	p.publish(reloaded, epoch, atOnce)
	for range 100 {
		if fromUS().Proxy == paused {
			return
		}
	}
	t.Error("never picked after it was resumed")
}

func TestTags(t *testing.T) {
	specs := weighted(1, 1, 1)
	specs[0].Tags, specs[2].Tags = []string{"fast", "eu"}, []string{"eu"}
	p := newTestPool(specs)
	if got := p.Tagged("eu"); len(got) != 2 || got[0] != p.Proxies()[0] || got[1] != p.Proxies()[2] {
		t.Errorf("%d proxies tagged eu", len(got))
	}
	if got := p.Tagged("us"); len(got) != 0 {
		t.Errorf("%d proxies tagged us", len(got))
	}
}

// revive is a pool of the same proxies in a new process.
func revive(p *Pool, specs []*Spec, now time.Time) *Pool {
	bans, rests := p.Targets(now)
	next := newTestPool(specs)
	next.RestoreTargets(bans, rests, now)
	return next
}

func TestBansAndRestingTargetsSurviveARestart(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1))
	reach(t, p, "alive.test:443", epoch)
	before := p.Troubles()
	failOn(t, p, "dead.test:443", 4, HandshakeGateway, epoch)
	x := begin(t, p, "denied.test:443", epoch)
	x.Fail(leaseOf(t, x, p.Proxies()[0], epoch), Fault{Signal: HandshakeDenied}, epoch)
	x.End(epoch)
	if p.Troubles() == before {
		t.Error("nobody would know that there is something to store")
	}
	now := epoch.Add(2 * time.Second)
	p = revive(p, weighted(1, 1, 1, 1), now)
	if _, refusal, _ := p.Begin(Request{ID: "test", Target: "dead.test:443"}, now); refusal == nil || refusal.RetryAfter != 3*time.Second {
		t.Errorf("refusal %+v, want one for the 3s that are left", refusal)
	}
	for range 50 {
		x := begin(t, p, "denied.test:443", now)
		if l := next(t, x, now); l.Proxy.ID == p.Proxies()[0].ID {
			t.Fatal("a ban was forgotten")
		} else {
			x.Reached(l, FirstByte, 0, now)
		}
	}
}

func TestARestoredBanIsNeverLongerThanANewOneCanBe(t *testing.T) {
	p := newTestPool(weighted(1))
	p.RestoreTargets([]Ban{{Proxy: p.Proxies()[0].ID, Target: "a.test:443", Until: epoch.AddDate(1, 0, 0)}},
		[]TargetRest{{Target: "b.test:443", Until: epoch.AddDate(1, 0, 0), Rest: time.Hour}}, epoch)
	next(t, begin(t, p, "a.test:443", epoch.Add(15*time.Minute)), epoch.Add(15*time.Minute))
	next(t, begin(t, p, "b.test:443", epoch.Add(time.Minute)), epoch.Add(time.Minute))
}

func TestARestartKeepsTheTimeThatAReportAskedFor(t *testing.T) {
	p := newTestPool(weighted(1))
	m := p.Proxies()[0]
	p.Report(Report{Proxy: m, Target: "a.test:443", Verdict: ReportedBanned, Rest: 12 * time.Minute}, epoch)
	now := epoch.Add(11 * time.Minute)
	p = revive(revive(p, weighted(1), epoch), weighted(1), now)
	if got := p.banned(keyOf("a.test:443"), now); len(got) != 1 || got[0].until != epoch.Add(12*time.Minute) {
		t.Errorf("banned: %v", got)
	}
}

func TestRestoredBansOfATargetAreBounded(t *testing.T) {
	p := newTestPool(weighted(1))
	var bans []Ban
	for i := range 2 * bansMax {
		bans = append(bans, Ban{Proxy: ID(strconv.Itoa(i)), Target: "a.test:443", Until: epoch.Add(time.Minute)})
	}
	p.RestoreTargets(append(bans, bans[bansMax:]...), nil, epoch)
	if got := p.banned(keyOf("a.test:443"), epoch); len(got) != bansMax || got[0].id != ID(strconv.Itoa(bansMax)) {
		t.Errorf("%d bans, want the last %d once each", len(got), bansMax)
	}
}

func TestABanByTheTargetKeepsItsTime(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	m := p.Proxies()[0]
	x := begin(t, p, "a.test:80", epoch)
	l := leaseOf(t, x, m, epoch)
	x.Ban(l, 20*time.Second, epoch)
	x.Reached(l, Response, 0, epoch)
	if got := p.banned(keyOf("a.test:80"), epoch.Add(19*time.Second)); len(got) != 1 {
		t.Errorf("%d banned before its time is over", len(got))
	}
	if got := p.banned(keyOf("a.test:80"), epoch.Add(20*time.Second)); len(got) != 0 {
		t.Errorf("%d banned after its time is over", len(got))
	}
	if s := m.breaker.Load().State(epoch); s != breaker.Closed {
		t.Errorf("the proxy itself is %v", s)
	}
}

func TestABanOutlivesTheProxysAbsenceFromTheList(t *testing.T) {
	specs := weighted(1, 1)
	p := newTestPool(specs)
	x := begin(t, p, "denied.test:443", epoch)
	x.Fail(leaseOf(t, x, p.Proxies()[0], epoch), Fault{Signal: HandshakeDenied}, epoch)
	x.End(epoch)
	banned := func(p *Pool, when string) {
		t.Helper()
		for range 30 {
			x := begin(t, p, "denied.test:443", epoch)
			if l := next(t, x, epoch); l.Proxy.ID == p.Proxies()[0].ID {
				t.Fatalf("%s the ban was forgotten", when)
			} else {
				x.Reached(l, FirstByte, 0, epoch)
			}
		}
	}
	p.Replace(specs[1:], epoch)
	elsewhere := revive(p, specs[1:], epoch)
	p.Replace(specs, epoch)
	banned(p, "with a reload")
	elsewhere.Replace(specs, epoch)
	banned(elsewhere, "with a restart in between")
}
