package pool

import (
	"testing"
	"time"

	"swivel/breaker"
)

// segmentedPool has eight proxies of each of the providers.
func segmentedPool(maxShare float64, providers ...string) *Pool {
	var specs []*Spec
	for i, provider := range providers {
		for j := range 8 {
			specs = append(specs, &Spec{Host: "192.0.2.1", Port: uint16(1000 + 10*i + j), Weight: 1, Provider: provider})
		}
	}
	s := breaker.DefaultSettings()
	s.Jitter = 0
	return New(specs, Options{
		Breaker: s, Salt: []byte("salt"), ProbeRate: 1000,
		Segment: &SegmentOptions{Breaker: s.Segment(), MaxShare: maxShare},
	}, epoch)
}

func segmentOf(p *Pool, provider string) *segment {
	for _, m := range p.Proxies() {
		if m.Spec.Provider == provider {
			return m.segment
		}
	}
	return nil
}

// work makes exchanges in which proxies of the bad provider fail, until n have
// been served, and counts the picks by provider.
func work(t *testing.T, p *Pool, bad string, n int, now time.Time) map[string]int {
	t.Helper()
	picks := map[string]int{}
	for range n {
		x := begin(t, p, "a.test:443", now)
		for range 5 {
			l, _, ok := x.Next(now, leaseTime, true)
			if !ok {
				break
			}
			picks[l.Proxy.Spec.Provider]++
			if l.Proxy.Spec.Provider != bad {
				x.Reached(l, FirstByte, 0, now)
				break
			}
			x.Fail(l, Fault{Signal: DialRefused}, now)
		}
		x.End(now)
	}
	return picks
}

func TestASegmentOpensBeforeAllItsProxiesDo(t *testing.T) {
	p := segmentedPool(0, "acme", "globex", "initech")
	work(t, p, "", 100, epoch)
	for n := 0; !segmentOf(p, "acme").breaker.Resting(); n++ {
		if n == 100 {
			t.Fatal("a provider that fails altogether was not rested")
		}
		work(t, p, "acme", 1, epoch)
	}
	rested := 0
	for _, m := range p.Proxies() {
		if m.breaker.Load().Resting() {
			rested++
		}
	}
	if rested > 1 { // by chance one may get most of the picks
		t.Errorf("%d proxies were rested before their provider", rested)
	}
	if segmentOf(p, "globex").breaker.Resting() {
		t.Error("another provider was rested too")
	}
	before := p.Redirected()
	picks := work(t, p, "acme", 200, epoch)
	if picks["acme"] != 0 {
		t.Errorf("%d picks of a provider that rests", picks["acme"])
	}
	after := p.Redirected()
	if sent := after.Exchanges - before.Exchanges; sent < 20 || after.Attempts-before.Attempts != sent || after.Failures != before.Failures {
		t.Errorf("of 200 exchanges through good proxies %d, %d, %d", sent, after.Attempts-before.Attempts, after.Failures-before.Failures)
	}
}

func TestFailuresElsewhereAreCountedOfThoseThatASegmentSentAway(t *testing.T) {
	p := segmentedPool(0, "acme", "globex")
	work(t, p, "", 60, epoch)
	work(t, p, "acme", 100, epoch)
	before := p.Redirected().Failures
	for range 1000 {
		x := begin(t, p, "a.test:443", epoch)
		l := next(t, x, epoch)
		if l.redirected {
			x.Fail(l, Fault{Signal: ClientGone}, epoch)
			l = next(t, x, epoch)
			x.Fail(l, Fault{Signal: DialRefused}, epoch)
			x.End(epoch)
			if n := p.Redirected().Failures - before; n != 1 {
				t.Errorf("%d failures", n)
			}
			return
		}
		x.Reached(l, FirstByte, 0, epoch)
		x.End(epoch)
	}
	t.Error("nobody was sent away")
}

func TestASegmentComesBackAfterThreeProbes(t *testing.T) {
	p := segmentedPool(0, "acme", "globex")
	work(t, p, "", 60, epoch)
	work(t, p, "acme", 100, epoch)
	now := epoch.Add(time.Hour) // the proxies' own rests are over as well
	acme := segmentOf(p, "acme")
	probes := 0
	for range 500 {
		x := begin(t, p, "a.test:443", now)
		l := next(t, x, now)
		if l.Proxy.segment == acme && acme.breaker.Resting() {
			probes++
		}
		x.Reached(l, FirstByte, 0, now)
		x.End(now)
		now = now.Add(100 * time.Millisecond)
	}
	if acme.breaker.Resting() {
		t.Fatal("the provider never came back")
	}
	if probes != 3 {
		t.Errorf("%d probes", probes)
	}
}

func TestTheOthersAreNotFloodedWhenASegmentRests(t *testing.T) {
	p := segmentedPool(0.5, "acme", "globex")
	work(t, p, "", 300, epoch)
	work(t, p, "acme", 60, epoch)
	refused := 0
	for range 1000 {
		x := begin(t, p, "a.test:443", epoch)
		l, _, ok := x.Next(epoch, leaseTime, true)
		if !ok {
			refused++
			continue
		}
		x.Reached(l, FirstByte, 0, epoch)
	}
	if refused == 0 {
		t.Error("one provider got everything that two had before")
	}
}

func TestShareIsNotLimitedWhileAllSegmentsServe(t *testing.T) {
	p := segmentedPool(0.1, "acme", "globex")
	if picks := work(t, p, "", 500, epoch); picks["acme"]+picks["globex"] != 500 {
		t.Errorf("picks %v", picks)
	}
}

func TestProxiesWithoutASegmentAreNoOnesSiblings(t *testing.T) {
	p := segmentedPool(0, "acme", "")
	if segmentOf(p, "") != nil {
		t.Error("proxies that name neither provider nor region share a breaker")
	}
	if got := len(p.Segments()); got != 1 {
		t.Errorf("%d segments", got)
	}
}

func TestSegmentsAreOffUnlessAskedFor(t *testing.T) {
	specs := weighted(1)
	specs[0].Provider = "acme"
	if p := newTestPool(specs); len(p.Segments()) != 0 || p.Proxies()[0].segment != nil {
		t.Error("a pool without the option has segments")
	}
}

func TestASegmentRestsOnAfterARestart(t *testing.T) {
	p := segmentedPool(0, "acme", "globex")
	work(t, p, "", 60, epoch)
	work(t, p, "acme", 100, epoch)
	snap := segmentOf(p, "acme").breaker.Snapshot(epoch)
	options := p.options
	options.Restore = func(id ID) (breaker.Snapshot, bool) { return snap, id == p.SegmentID("acme//http") }
	var specs []*Spec
	for _, m := range p.Proxies() {
		specs = append(specs, m.Spec)
	}
	p = New(specs, options, epoch)
	if picks := work(t, p, "acme", 100, epoch); picks["acme"] != 0 {
		t.Errorf("%d picks of a provider that rests", picks["acme"])
	}
}

func TestSegmentName(t *testing.T) {
	for want, spec := range map[string]Spec{
		"acme/eu/socks5": {Provider: "acme", Region: "eu", Scheme: SOCKS5H},
		"/eu/http":       {Region: "eu"},
		"":               {Country: "de"},
	} {
		if got := SegmentName(&spec); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
