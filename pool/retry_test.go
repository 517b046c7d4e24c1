package pool

import (
	"slices"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool/route"
)

// TestALargeDeadPoolIsNotSearchedForEveryClient has one member that is due
// before the others: what is told must be right although it is kept for a while.
func TestALargeDeadPoolIsNotSearchedForEveryClient(t *testing.T) {
	start := time.Now()
	specs := make([]*Spec, 20_000)
	for i := range specs {
		specs[i] = &Spec{Host: "10.0.0.1", Port: uint16(i + 1), Weight: 1}
	}
	first := true
	p := New(specs, Options{Breaker: breaker.DefaultSettings(), Salt: []byte("salt"), Restore: func(ID) (breaker.Snapshot, bool) {
		next := start.Add(40 * time.Second)
		if first {
			next, first = start.Add(10*time.Second), false
		}
		return breaker.Snapshot{State: breaker.Open, Generation: 2, OpensInRow: 1, Rule: breaker.RuleRun, NextTest: next, LastChange: start}, true
	}}, start)
	began := time.Now()
	for range 1000 {
		p.RetryAfter(start)
	}
	if took := time.Since(began); took > time.Second { // 5 s when all are asked each time
		t.Errorf("a thousand answers took %v", took)
	}
	for _, passed := range []time.Duration{0, 300 * time.Millisecond, 2 * time.Second, 9900 * time.Millisecond, 10 * time.Second, 11 * time.Second} {
		want := max(0, 10*time.Second-passed)
		if got := p.RetryAfter(start.Add(passed)); got != want {
			t.Errorf("after %v: %v, want %v", passed, got, want)
		}
	}
}

// TestRetryAfterCountsBans has proxies that are fit for everything but the
// target: that they may be picked says nothing to its client.
func TestRetryAfterCountsBans(t *testing.T) {
	for _, n := range []int{1, 3, few + 1} {
		p := newTestPool(ones(n))
		x := begin(t, p, "a.test:443", epoch)
		for i, m := range p.Proxies()[:min(n, 3)] {
			x.Ban(leaseOf(t, x, m, epoch), time.Duration(20+i)*time.Second, epoch)
		}
		y := begin(t, p, "a.test:443", epoch)
		if n > few {
			if y.RetryAfter(epoch) != 0 || y.KeptAway(epoch) {
				t.Error("the others of a large pool are not told of")
			}
			continue
		}
		if got := y.RetryAfter(epoch); got != 20*time.Second || !y.KeptAway(epoch) {
			t.Errorf("%d proxies: %v, kept away: %v", n, got, y.KeptAway(epoch))
		}
		if !y.Hopeless(19*time.Second, epoch) || y.Hopeless(21*time.Second, epoch) {
			t.Errorf("%d proxies: to wait for is hopeless when it helps, or not when it does not", n)
		}
		if e := p.Explain(Request{Target: "a.test:443"}, epoch); e.RetryAfter != 20*time.Second || e.Stuck {
			t.Errorf("%d proxies: explained as %v", n, e.RetryAfter)
		}
		if z := begin(t, p, "b.test:443", epoch); z.RetryAfter(epoch) != 0 || z.KeptAway(epoch) {
			t.Error("another target's client has to wait too")
		}
		after := epoch.Add(20 * time.Second) // an exchange that waited sees the end of a ban
		if _, _, ok := y.Next(after, leaseTime, true); !ok {
			t.Errorf("%d proxies: nobody, although a ban is over", n)
		}
	}
}

func TestOnlyWhatTimeChangesIsPromised(t *testing.T) {
	p := newTestPool(ones(2))
	p.Pause(p.Proxies()[:1], Pause{Reason: "why"})
	trip(t, p, 1, epoch)
	r := Request{Target: "a.test:443"}
	if e := p.Explain(r, epoch); e.Stuck || e.RetryAfter != 30*time.Second {
		t.Errorf("one rests: %v, stuck: %v", e.RetryAfter, e.Stuck)
	}
	p.Pause(p.Proxies(), Pause{Reason: "why"})
	if e := p.Explain(r, epoch); !e.Stuck || e.RetryAfter != 0 {
		t.Errorf("all are paused: %v, stuck: %v", e.RetryAfter, e.Stuck)
	}
	if x := begin(t, p, "a.test:443", epoch); x.RetryAfter(epoch) != soon || x.Hopeless(time.Second, epoch) {
		t.Errorf("all are paused: come back in %v, in vain: %v", x.RetryAfter(epoch), x.Hopeless(time.Second, epoch))
	}
}

func TestWhoWaitsForATestIsNotTurnedAway(t *testing.T) {
	p := newTestPool(ones(1))
	trip(t, p, 0, epoch)
	due := epoch.Add(time.Minute)
	if l := next(t, begin(t, p, "a.test:443", due), due); !l.Probe {
		t.Fatal("no test")
	}
	x := begin(t, p, "a.test:443", due)
	if got := x.RetryAfter(due); got != shortly || x.Hopeless(5*time.Second, due) {
		t.Errorf("come back in %v, in vain: %v; but the test may be over at any time", got, x.Hopeless(5*time.Second, due))
	}
}

func TestARestingSegmentIsNotThereNow(t *testing.T) {
	p := segmentedPool(0, "acme")
	work(t, p, "acme", 10, epoch)
	if !segmentOf(p, "acme").breaker.Resting() {
		t.Fatal("the segment does not rest")
	}
	if x := begin(t, p, "a.test:443", epoch); x.RetryAfter(epoch) != 30*time.Second || !x.Hopeless(29*time.Second, epoch) {
		t.Errorf("come back in %v", x.RetryAfter(epoch))
	}
	if e := p.Explain(Request{Target: "a.test:443"}, epoch); e.RetryAfter != 30*time.Second {
		t.Errorf("explained as %v", e.RetryAfter)
	}
}

func TestAProxyThatDeniedTheTargetIsNotAskedAgain(t *testing.T) {
	p := newTestPool(ones(1))
	x := begin(t, p, "a.test:443", epoch)
	x.Fail(next(t, x, epoch), Fault{Signal: HandshakeDenied}, epoch)
	if _, _, ok := x.Next(epoch, leaseTime, true); ok {
		t.Error("the only proxy is asked for what it has just refused")
	}
	if got := x.RetryAfter(epoch); got != soon {
		t.Errorf("come back in %v", got)
	}
}

// TestAStrictSessionWhoseProxyIsGoneIsToldToComeBackLate has others that could
// serve, but not it.
func TestAStrictSessionWhoseProxyIsGoneIsToldToComeBackLate(t *testing.T) {
	p := newTestPool(ones(3))
	home := visit(t, p, "s", true, epoch).Proxy
	others := slices.DeleteFunc(ones(3), func(s *Spec) bool { return s.Port == home.Spec.Port })
	p.Replace(others, epoch)
	r := Request{ID: "test", Target: "target.test:443", Client: "me", Route: route.Route{Session: "s", Strict: true}}
	x, _, _ := p.Begin(r, epoch)
	if _, _, ok := x.Next(epoch, leaseTime, true); ok {
		t.Fatal("it moved")
	}
	if got := x.RetryAfter(epoch); got != soon || !x.Hopeless(time.Hour, epoch) || !x.AtHome() {
		t.Errorf("come back in %v", got)
	}
	if e := p.Explain(r, epoch); !e.Stuck || e.Chances[0].Weight != 0 {
		t.Errorf("explained as %+v", e)
	}
}
