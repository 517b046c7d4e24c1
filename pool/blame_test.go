package pool

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"swivel/breaker"
)

func failuresOf(m *Proxy, now time.Time) int { return len(m.breaker.Load().Snapshot(now).Failures) }

func TestASuspicionIsAFailureWhenAnotherExchangeReachesTheTarget(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1))
	a, b := p.Proxies()[0], p.Proxies()[1]
	x := begin(t, p, "a.test:443", epoch)
	x.Fail(leaseOf(t, x, a, epoch), Fault{Signal: HandshakeClosed}, epoch)
	x.End(epoch)
	if n := failuresOf(a, epoch); n != 0 {
		t.Fatalf("%d failures before anything is known", n)
	}
	reachThrough(t, p, b, "a.test:443", epoch.Add(9*time.Second))
	if n := failuresOf(a, epoch.Add(9*time.Second)); n != 1 {
		t.Errorf("%d failures after another proxy reached the target", n)
	}
}

func TestASuspicionIsNoFailureWhenTheSameProxyReachesTheTargetNext(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1))
	a := p.Proxies()[0]
	x := begin(t, p, "a.test:443", epoch)
	x.Fail(leaseOf(t, x, a, epoch), Fault{Signal: HandshakeClosed}, epoch)
	x.End(epoch)
	reachThrough(t, p, a, "a.test:443", epoch.Add(time.Second))
	if n := failuresOf(a, epoch.Add(time.Second)); n != 0 {
		t.Errorf("%d failures", n)
	}
}

func TestEvidenceThatComesTooLateProvesNothing(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1))
	a, b := p.Proxies()[0], p.Proxies()[1]
	x := begin(t, p, "a.test:443", epoch)
	x.Fail(leaseOf(t, x, a, epoch), Fault{Signal: HandshakeClosed}, epoch)
	x.End(epoch)
	late := epoch.Add(verdictWithin)
	reachThrough(t, p, b, "a.test:443", late)
	if n := failuresOf(a, late); n != 0 {
		t.Errorf("%d failures", n)
	}
}

func TestADeadTargetOpensNoProxyAndIsLeftAlone(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1))
	reach(t, p, "alive.test:443", epoch)
	failOn(t, p, "dead.test:443", 4, HandshakeGateway, epoch)
	_, refusal, _ := p.Begin(Request{ID: "test", Target: "dead.test:443"}, epoch.Add(time.Second))
	if refusal == nil || !refusal.TargetDown || refusal.RetryAfter != 4*time.Second {
		t.Fatalf("refusal %+v, want one for the 4s that are left of 5s", refusal)
	}
	for i, m := range p.Proxies() {
		if failuresOf(m, epoch) > 0 || m.breaker.Load().Snapshot(epoch).Suspicions > 0 {
			t.Errorf("proxy %d has something held against it", i)
		}
	}
}

func TestADeadTargetIsTriedOnceARestAndRestsLonger(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1))
	reach(t, p, "alive.test:443", epoch)
	now := epoch
	failOn(t, p, "dead.test:443", 4, HandshakeGateway, now)
	for _, rest := range []time.Duration{5, 10, 20, 40, 60, 60} {
		now = now.Add(rest * time.Second)
		trial := begin(t, p, "dead.test:443", now)
		if _, refusal, _ := p.Begin(Request{ID: "test", Target: "dead.test:443"}, now); refusal == nil {
			t.Fatalf("after %v: a second exchange beside the trial", rest*time.Second)
		}
		trial.Fail(next(t, trial, now), Fault{Signal: HandshakeTimeout}, now)
		trial.End(now)
		for _, m := range p.Proxies() {
			reachThrough(t, p, m, "alive.test:443", now)
		}
	}
}

func TestATargetThatIsReachedAgainIsForgotten(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1))
	reach(t, p, "alive.test:443", epoch)
	failOn(t, p, "dead.test:443", 4, HandshakeGateway, epoch)
	now := epoch.Add(5 * time.Second)
	trial := begin(t, p, "dead.test:443", now)
	trial.Reached(next(t, trial, now), FirstByte, 0, now)
	trial.End(now)
	begin(t, p, "dead.test:443", now)
}

func TestProxiesWithoutCreditDoNotTakeATargetDown(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1)) // none of them has ever succeeded
	for range 10 {
		failOn(t, p, "a.test:443", 4, HandshakeGateway, epoch)
	}
	begin(t, p, "a.test:443", epoch)
}

func TestAPoolOfTwoCanTakeATargetDown(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	reach(t, p, "alive.test:443", epoch)
	failOn(t, p, "dead.test:443", 2, HandshakeGateway, epoch)
	begin(t, p, "dead.test:443", epoch) // two failures may be an accident
	failOn(t, p, "dead.test:443", 2, HandshakeGateway, epoch)
	if _, refusal, _ := p.Begin(Request{ID: "test", Target: "dead.test:443"}, epoch); refusal == nil {
		t.Error("both proxies of the pool could not reach the target, and it is asked for again")
	}
}

func TestAGatewaysOwnFailuresDoNotCloseATargetThatItReaches(t *testing.T) {
	specs := weighted(1)
	specs[0].Rotating = true
	p := newTestPool(specs)
	for i := range 500 {
		now := epoch.Add(time.Duration(i) * 20 * time.Millisecond)
		x := begin(t, p, "a.test:443", now)
		l := next(t, x, now)
		if i%30 == 29 { // and the request must not be repeated
			x.Fail(l, Fault{Signal: ResponseClosed}, now)
		} else {
			x.Reached(l, Response, 0, now)
		}
		x.End(now)
	}
}

func TestARemovedProxyDoesNotComeBackToRest(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	gone := p.Proxies()[0]
	x := begin(t, p, "a.test:443", epoch)
	l := leaseOf(t, x, gone, epoch)
	p.Replace(weighted(1, 1)[1:], epoch)
	x.Fail(l, Fault{Signal: HandshakeAuth}, epoch) // opens it
	x.End(epoch)
	later := epoch.Add(time.Hour)
	for range 50 {
		x := begin(t, p, "a.test:443", later)
		if l := next(t, x, later); l.Proxy.ID == gone.ID {
			t.Fatal("a proxy that is not in the pool was leased")
		} else {
			x.Reached(l, FirstByte, 0, later)
		}
	}
	if got := p.current.Load().all.usable.Load(); got != 1 {
		t.Errorf("%d closed members of one", got)
	}
}

func TestAProxyThatIsDrainedWhileItRestsIsNotProbed(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	trip(t, p, 0, epoch)
	p.Replace(weighted(0, 1), epoch)
	later := epoch.Add(time.Hour)
	for range 50 {
		m, err := serve(p, later)
		if err != nil || m.Spec.Weight == 0 {
			t.Fatal("a proxy of weight 0 was leased", err)
		}
	}
}

func TestAProxyThatFailsBehindIts200OnEveryTargetOfACrawlIsFound(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1))
	bad, now := p.Proxies()[0], epoch
	reach(t, p, "first.test:443", now)
	for i := range 2000 { // every target is visited once
		now = now.Add(100 * time.Millisecond)
		x := begin(t, p, fmt.Sprintf("t%d.test:443", i), now)
		if l := next(t, x, now); l.Proxy == bad {
			x.Fail(l, Fault{Signal: TunnelClosed}, now)
		} else {
			x.Reached(l, FirstByte, 0, now)
		}
		x.End(now)
		if bad.breaker.Load().Resting() {
			return
		}
	}
	t.Error("a quarter of the crawl was lost and nobody noticed")
}

func TestACrawlOfMostlyDeadTargetsOpensNobody(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1, 1, 1))
	now, random := epoch, rand.New(rand.NewPCG(3, 4))
	reach(t, p, "first.test:443", now)
	for i := range 5000 {
		now = now.Add(100 * time.Millisecond)
		dead := random.IntN(10) < 8
		x, refusal, _ := p.Begin(Request{ID: "test", Target: fmt.Sprintf("t%d.test:443", i)}, now)
		if refusal != nil {
			continue
		}
		for range 5 {
			l, _, ok := x.Next(now, leaseTime, true)
			if !ok {
				break
			}
			if !dead {
				x.Reached(l, FirstByte, 0, now)
				break
			}
			x.Fail(l, Fault{Signal: HandshakeGateway}, now)
		}
		x.End(now)
	}
	for i, m := range p.Proxies() {
		if s := m.breaker.Load().State(now); s != breaker.Closed {
			t.Errorf("proxy %d is %v", i, s)
		}
	}
}

// suspectAlone lets proxy m fail on the target in an exchange of its own, and
// lets the time pass in which evidence could come.
func suspectAlone(t *testing.T, p *Pool, m *Proxy, target string, now time.Time) time.Time {
	t.Helper()
	x := begin(t, p, target, now)
	x.Fail(leaseOf(t, x, m, now), Fault{Signal: HandshakeTimeout}, now)
	x.End(now)
	now = now.Add(verdictWithin)
	p.lapse(now)
	return now
}

func TestSuspicionsInARowCountWhenTheTargetIsKnownToLive(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1))
	reach(t, p, "a.test:443", epoch)
	m, now := p.Proxies()[0], epoch
	for i := range 5 {
		if s := m.breaker.Load().State(now); s != breaker.Closed {
			t.Fatalf("%v after %d suspicions", s, i)
		}
		now = suspectAlone(t, p, m, "a.test:443", now)
	}
	if s := m.breaker.Load().State(now); s != breaker.Open {
		t.Errorf("%v after five suspicions in a row", s)
	}
}

func TestSuspicionsOnTargetsThatNobodyReachedProveNothing(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1))
	reach(t, p, "a.test:443", epoch)
	m, now := p.Proxies()[0], epoch
	for i := range 20 {
		now = suspectAlone(t, p, m, fmt.Sprintf("dead-%d.test:443", i), now)
	}
	if s := m.breaker.Load().State(now); s != breaker.Closed {
		t.Errorf("%v: a batch of dead domains banned a proxy", s)
	}
	now = epoch.Add(reachedWithin + time.Minute) // by now a.test is no evidence either
	for range 20 {
		now = suspectAlone(t, p, m, "a.test:443", now)
	}
	if s := m.breaker.Load().State(now); s != breaker.Closed {
		t.Errorf("%v: the target was last reached more than an hour ago", s)
	}
}

func TestAProxyThatFailsOnThreeLivingTargetsHasFailed(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1))
	m, now := p.Proxies()[0], epoch
	for i := range 3 {
		reach(t, p, fmt.Sprintf("t%d.test:443", i), epoch)
	}
	for i := range 3 {
		now = suspectAlone(t, p, m, fmt.Sprintf("t%d.test:443", i), now)
	}
	if got := m.breaker.Load().Snapshot(now); len(got.Failures) != 1 || got.Suspicions != 2 {
		t.Errorf("%d failures and %d suspicions, want 1 and 2", len(got.Failures), got.Suspicions)
	}
}

func TestATargetThatDropsConnectionsItselfBansNobody(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1, 1, 1, 1, 1, 1, 1))
	now, random := epoch, rand.New(rand.NewPCG(1, 2))
	drops := func() bool { return random.IntN(10) < 4 }
	refused := 0
	for range 5000 {
		now = now.Add(100 * time.Millisecond)
		x, refusal, _ := p.Begin(Request{ID: "test", Target: "flaky.test:443"}, now)
		if refusal != nil {
			refused++
			continue
		}
		for range 5 {
			l, _, ok := x.Next(now, leaseTime, true)
			if !ok {
				t.Fatal("no proxy left")
			}
			if !drops() {
				x.Reached(l, FirstByte, 0, now)
				break
			}
			x.Fail(l, Fault{Signal: TunnelClosed}, now)
		}
		x.End(now)
	}
	if refused > 500 {
		t.Errorf("taken for dead too often: %d of 5000 exchanges were refused", refused)
	}
	for i, m := range p.Proxies() {
		if s := m.breaker.Load().State(now); s != breaker.Closed {
			t.Errorf("proxy %d is %v", i, s)
		}
	}
}

func TestABadProxyIsFoundAmongTargetsThatDropConnections(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1, 1))
	bad, now, n := p.Proxies()[0], epoch, 0
	reach(t, p, "flaky.test:443", now) // one that never succeeded would hardly be picked
	for range 2000 {
		now = now.Add(100 * time.Millisecond)
		x := begin(t, p, "flaky.test:443", now)
		for range 5 {
			l, _, ok := x.Next(now, leaseTime, true)
			if !ok {
				break
			}
			n++
			if l.Proxy != bad && n%5 != 0 {
				x.Reached(l, FirstByte, 0, now)
				break
			}
			x.Fail(l, Fault{Signal: TunnelClosed}, now)
		}
		x.End(now)
		if bad.breaker.Load().Resting() {
			return
		}
	}
	t.Error("a proxy that always fails was never opened")
}

func TestMemoryOfTargetsIsBounded(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1))
	now := epoch
	for i := range 100_000 {
		now = now.Add(50 * time.Microsecond)
		x, _, _ := p.Begin(Request{ID: "test", Target: fmt.Sprintf("host-%d.test:443", i)}, now)
		x.Fail(leaseOf(t, x, p.Proxies()[i%4], now), Fault{Signal: HandshakeClosed}, now)
		x.End(now)
	}
	if n := len(p.memory.records); n > troubledMax {
		t.Errorf("%d records", n)
	}
	if n := len(p.waiting.queue); n > waitingMax+1 {
		t.Errorf("%d suspicions wait", n)
	}
	p.lapse(now.Add(time.Minute))
	if n := len(p.waiting.by); n != 0 {
		t.Errorf("%d targets have suspicions after their time", n)
	}
}

func TestAProxyThatRefusesATargetIsKeptAwayFromIt(t *testing.T) {
	p := newTestPool(weighted(1000, 1))
	denied := p.Proxies()[0]
	x := begin(t, p, "a.test:443", epoch)
	x.Fail(leaseOf(t, x, denied, epoch), Fault{Signal: HandshakeDenied}, epoch)
	x.End(epoch)
	for range 100 {
		x := begin(t, p, "a.test:443", epoch)
		if l := next(t, x, epoch); l.Proxy == denied {
			t.Fatal("asked again for a target that it refuses")
		} else {
			x.Reached(l, FirstByte, 0, epoch)
		}
	}
	other := begin(t, p, "b.test:443", epoch)
	seen := map[*Proxy]bool{next(t, other, epoch).Proxy: true, next(t, other, epoch).Proxy: true}
	if !seen[denied] {
		t.Error("kept away from other targets too")
	}
	later := begin(t, p, "a.test:443", epoch.Add(5*time.Minute))
	seen = map[*Proxy]bool{next(t, later, epoch.Add(5*time.Minute)).Proxy: true, next(t, later, epoch.Add(5*time.Minute)).Proxy: true}
	if !seen[denied] {
		t.Error("still kept away when the ban is over")
	}
}

func TestAProxyThatRefusesThreeTargetsRefusesUs(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	m := p.Proxies()[0]
	deny := func(target string) {
		x := begin(t, p, target, epoch)
		x.Fail(leaseOf(t, x, m, epoch), Fault{Signal: HandshakeDenied}, epoch)
		x.End(epoch)
	}
	deny("a.test:443")
	deny("b.test:443")
	reachThrough(t, p, m, "c.test:443", epoch) // one served in between
	deny("d.test:443")
	deny("e.test:443")
	if s := m.breaker.Load().State(epoch); s != breaker.Closed {
		t.Fatalf("%v after two refusals in a row", s)
	}
	deny("f.test:443")
	if got := m.breaker.Load().Snapshot(epoch); got.State != breaker.Open || got.Rule != breaker.RuleRefused {
		t.Errorf("%v by %v after three targets refused", got.State, got.Rule)
	}
}

func TestAProxyWithManyOverdueAttemptsIsNotPicked(t *testing.T) {
	p := newTestPool(weighted(1000, 1))
	hole := p.Proxies()[0]
	reachThrough(t, p, p.Proxies()[1], "a.test:443", epoch)
	var leases []*Lease
	var exchanges []*Exchange
	for range 5 {
		x := begin(t, p, "a.test:443", epoch)
		l := leaseOf(t, x, hole, epoch)
		x.Overdue(l, epoch)
		x.Overdue(l, epoch) // said twice, counted once
		leases, exchanges = append(leases, l), append(exchanges, x)
	}
	for range 50 {
		if m, err := serve(p, epoch); err != nil || m == hole {
			t.Fatal("picked although five attempts are overdue")
		}
	}
	exchanges[0].Fail(leases[0], Fault{Signal: HandshakeTimeout}, epoch)
	picked := false
	for range 50 {
		m, err := serve(p, epoch)
		picked = picked || err == nil && m == hole
	}
	if !picked {
		t.Error("not picked again after one was decided")
	}
}

// TestALossyNetworkDoesNotSuspendAProxyThatServes: some packets of several
// attempts were lost, and meanwhile others are served.
func TestALossyNetworkDoesNotSuspendAProxyThatServes(t *testing.T) {
	p := newTestPool(weighted(1))
	for range 10 {
		x := begin(t, p, "a.test:443", epoch)
		l := leaseOf(t, x, p.Proxies()[0], epoch)
		reachThrough(t, p, p.Proxies()[0], "a.test:443", epoch.Add(100*time.Millisecond))
		x.Overdue(l, epoch.Add(300*time.Millisecond))
	}
	if _, err := serve(p, epoch.Add(time.Second)); err != nil {
		t.Errorf("the only proxy is suspended: %v", err)
	}
}

// TestSlowTargetWithLongBodiesDoesNotSuspendItsProxy: each attempt was overdue when
// its response came at last, whose body takes longer still.
func TestSlowTargetWithLongBodiesDoesNotSuspendItsProxy(t *testing.T) {
	p := newTestPool(weighted(1))
	answered := epoch.Add(3 * time.Second)
	for range 2 * overdueLimit {
		x := begin(t, p, "a.test:80", epoch)
		l := leaseOf(t, x, p.Proxies()[0], epoch)
		x.Overdue(l, epoch.Add(2*time.Second))
		x.TargetUp(l, answered)
		x.Overdue(l, answered.Add(time.Second)) // said too late
	}
	if n := p.Proxies()[0].overdue.Load(); n != 0 {
		t.Errorf("%d attempts are overdue, all of which have a response", n)
	}
	x := begin(t, p, "a.test:80", answered)
	l := leaseOf(t, x, p.Proxies()[0], answered)
	x.Overdue(l, answered.Add(2*time.Second))
	if n := p.Proxies()[0].overdue.Load(); n != 1 {
		t.Errorf("%d are overdue, one of which has no response", n)
	}
	x.TargetUp(l, answered.Add(3*time.Second))
	if n := p.Proxies()[0].overdue.Load(); n != 0 {
		t.Errorf("%d are overdue after that one has its response", n)
	}
}

func TestAClientThatLeavesAnOverdueAttemptClearsNobody(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	a, b := p.Proxies()[0], p.Proxies()[1]
	x := begin(t, p, "a.test:443", epoch)
	l := leaseOf(t, x, a, epoch)
	x.Overdue(l, epoch)
	x.Fail(l, Fault{Signal: ClientGone}, epoch)
	x.End(epoch)
	reachThrough(t, p, b, "a.test:443", epoch)
	if n := failuresOf(a, epoch); n != 1 {
		t.Errorf("%d failures", n)
	}
}

func TestATargetThatHangsDoesNotSuspendThePool(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	for _, m := range p.Proxies() {
		for range 10 {
			x := begin(t, p, "hangs.test:443", epoch)
			x.Overdue(leaseOf(t, x, m, epoch), epoch.Add(2*time.Second))
		}
	}
	if _, err := serve(p, epoch.Add(2*time.Second)); err != nil {
		t.Error(err)
	}
}

func TestAnOverdueAttemptCountsWhenItsHedgeReachesTheTarget(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	hole, other := p.Proxies()[0], p.Proxies()[1]
	now := epoch.Add(2 * time.Second)
	x := begin(t, p, "a.test:443", epoch)
	x.Overdue(leaseOf(t, x, hole, epoch), now)
	if n := hole.overdue.Load(); n != 0 {
		t.Fatalf("counted %d before anybody reached the target", n)
	}
	x.Reached(leaseOf(t, x, other, now), FirstByte, 0, now)
	if n := hole.overdue.Load(); n != 1 {
		t.Errorf("counted %d", n)
	}
}

func TestATargetThatOftenFailsIsNotTakenForDead(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1, 1, 1, 1, 1))
	reach(t, p, "alive.test:443", epoch)
	for i := range 40 { // every other exchange fails once: a rate of a third
		x := begin(t, p, "flaky.test:443", epoch)
		if i%2 == 0 {
			x.Fail(leaseOf(t, x, p.Proxies()[i%8], epoch), Fault{Signal: TunnelClosed}, epoch)
		}
		x.Reached(leaseOf(t, x, p.Proxies()[(i+1)%8], epoch), FirstByte, 0, epoch)
		x.End(epoch)
	}
	reach(t, p, "alive.test:443", epoch)
	failOn(t, p, "flaky.test:443", 4, TunnelClosed, epoch)
	begin(t, p, "flaky.test:443", epoch) // four in a row: one in a hundred
	reach(t, p, "alive.test:443", epoch)
	failOn(t, p, "flaky.test:443", 5, TunnelClosed, epoch)
	if _, refusal, _ := p.Begin(Request{ID: "test", Target: "flaky.test:443"}, epoch); refusal == nil {
		t.Error("nine in a row are no accident any more")
	}
}
