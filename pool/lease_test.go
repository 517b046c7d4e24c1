package pool

import (
	"slices"
	"testing"
	"time"

	"swivel/breaker"
)

// later is when leases end that are to last for a test.
var later = epoch.Add(time.Hour)

// probes is how many of so many exchanges carry one.
func probes(t *testing.T, p *Pool, n int, now time.Time) (found int) {
	t.Helper()
	for range n {
		x := begin(t, p, "a.test:443", now)
		l, _, ok := x.Next(now, leaseTime, true)
		if ok && l.Probe {
			found++
		}
		x.End(now)
	}
	return found
}

func TestOnlyLeasedProxiesAreTested(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1))
	due := dueAfter(t, p, 2)
	p.Lease(nil, later)
	if n := probes(t, p, 50, due); n != 0 {
		t.Errorf("%d tests without a lease", n)
	}
	select {
	case <-p.Wanted():
	default:
		t.Error("nobody was told that there is something to test")
	}
	want := []ID{p.Proxies()[0].ID, p.Proxies()[1].ID}
	slices.Sort(want)
	got := p.TakeWanted()
	if slices.Sort(got); !slices.Equal(got, want) || len(p.TakeWanted()) != 0 {
		t.Errorf("wanted are %q, want %q, once", got, want)
	}
	second := p.Proxies()[1]
	p.Lease([]ID{second.ID}, later)
	x := begin(t, p, "a.test:443", due)
	if l := next(t, x, due); !l.Probe || l.Proxy != second {
		t.Errorf("%v is tested, want the one with the lease", l.Proxy.Spec.Port)
	}
}

func TestNobodyLeftAndNoLease(t *testing.T) {
	p := newTestPool(weighted(1))
	due := dueAfter(t, p, 1)
	p.Lease(nil, later)
	if n := probes(t, p, 1, due); n != 0 {
		t.Error("tested without a lease")
	}
	for range 2 { // drain
		select {
		case <-p.Freed():
		default:
		}
	}
	p.Lease(p.TakeWanted(), later)
	select {
	case <-p.Freed():
	default:
		t.Error("those who wait are not told that there is a lease")
	}
	if n := probes(t, p, 1, due); n != 1 {
		t.Error("not tested with the lease")
	}
}

func TestWithoutOthersNoLeaseIsNeeded(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	due := dueAfter(t, p, 1)
	p.Lease(nil, later)
	p.LeaseNone()
	if n := probes(t, p, 50, due); n != 1 {
		t.Errorf("%d tests, want one", n)
	}
}

func TestLeaseThatWasNotRenewedIsNone(t *testing.T) {
	p := newTestPool(weighted(1))
	due := dueAfter(t, p, 1)
	p.Lease([]ID{p.Proxies()[0].ID}, due)
	if n := probes(t, p, 1, due); n != 0 {
		t.Error("tested after the end of the lease")
	}
	if len(p.TakeWanted()) != 1 {
		t.Error("and it is not wanted")
	}
}

func TestDueByNamesTheSoonestFirst(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1))
	trip(t, p, 2, epoch)
	trip(t, p, 0, epoch.Add(time.Second))
	if got := p.DueBy(epoch.Add(30*time.Second), 5); !slices.Equal(got, []ID{p.Proxies()[2].ID}) {
		t.Errorf("%q", got)
	}
	if got := p.DueBy(epoch.Add(time.Minute), 5); !slices.Equal(got, []ID{p.Proxies()[2].ID, p.Proxies()[0].ID}) {
		t.Errorf("%q", got)
	}
}

func TestWhatIsAdoptedTakesAProxyOutOfUseAndBack(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	m := p.Proxies()[0]
	reach(t, p, "a.test:443", epoch)
	s, _ := p.Share(m.ID, epoch)
	open := breaker.Standing{State: breaker.Open, At: epoch, Until: epoch.Add(time.Minute), Rule: breaker.RuleRun, OpensInRow: 1}
	adopted, ok, events := p.Adopt(m.ID, open, s.Edition, epoch)
	if !ok || len(events) != 1 || !events[0].Fleet || events[0].Effect.Transition.To != breaker.Open {
		t.Fatalf("%v, %+v", ok, events)
	}
	if m.Usable() || len(p.DueBy(epoch.Add(time.Minute), 1)) != 1 {
		t.Error("it is still in use, or will never be due")
	}
	_, _, events = p.Adopt(m.ID, breaker.Standing{At: epoch.Add(time.Second), Rule: breaker.RuleRecovered}, adopted, epoch.Add(time.Second))
	if len(events) != 1 || !m.Usable() {
		t.Errorf("%+v", events)
	}
	if _, ok, _ := p.Adopt("unknown", open, 0, epoch); ok {
		t.Error("adopted by nobody")
	}
}

func TestLearntPinHoldsAndIsNotToldAgain(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	pin := Pin{Session: SessionID{1}, Proxy: p.Proxies()[1].ID, LastUse: epoch, TTL: time.Hour}
	p.LearnPin(pin, epoch)
	if got := p.sessions.peek(pin.Session, epoch); got != pin.Proxy {
		t.Errorf("it is at %q", got)
	}
	changed, _ := p.ChangedSessions(epoch)
	if len(changed) != 1 || !changed[0].Learnt {
		t.Errorf("%+v, want it stored, as learnt", changed)
	}
	p.LearnPin(pin, epoch)
	if changed, _ := p.ChangedSessions(epoch); len(changed) != 0 {
		t.Errorf("learnt twice: %+v", changed)
	}
	p.sessions.settle(pin.Session, pin.Proxy, p.Proxies()[0].ID, time.Hour, epoch)
	if changed, _ := p.ChangedSessions(epoch); len(changed) != 1 || changed[0].Learnt || len(p.Pins()) != 1 {
		t.Errorf("%+v, want it told that it has moved here", changed)
	}
}

func TestLearntBanIsNotShortened(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	id := p.Proxies()[0].ID
	for _, until := range []time.Duration{time.Minute, time.Second, 1000 * time.Hour} {
		p.LearnBan(Ban{Proxy: id, Target: "a.test:443", Until: epoch.Add(until)}, epoch)
		bans, _ := p.Targets(epoch)
		want := epoch.Add(min(max(until, time.Minute), 15*time.Minute))
		if len(bans) != 1 || !bans[0].Until.Equal(want) {
			t.Errorf("after one until %v: %+v", until, bans)
		}
	}
}

func TestLearntRestOfATarget(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	rest := TargetRest{Target: "a.test:443", Until: epoch.Add(10 * time.Second), Rest: 10 * time.Second}
	p.LearnTargetRest(rest, epoch, epoch)
	if left := p.TargetRests("a.test:443", epoch); left != 10*time.Second {
		t.Errorf("left alone for %v", left)
	}
	p.LearnTargetRest(TargetRest{Target: "a.test:443"}, epoch, epoch)
	if left := p.TargetRests("a.test:443", epoch); left != 0 {
		t.Errorf("it was reached, and is left alone for %v", left)
	}
	now := epoch.Add(time.Second)
	reach(t, p, "a.test:443", now)
	p.LearnTargetRest(rest, epoch, now)
	if left := p.TargetRests("a.test:443", now); left != 0 {
		t.Errorf("it was reached from here since, and is left alone for %v", left)
	}
}
