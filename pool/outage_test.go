package pool

import (
	"fmt"
	"testing"
	"time"

	"swivel/breaker"
)

// dialFailures lets each proxy fail once to be dialled, and returns the changes
// of the guard.
func dialFailures(t *testing.T, p *Pool, proxies []*Proxy, now time.Time) (changes []Outage) {
	t.Helper()
	for i, m := range proxies {
		x := &Exchange{pool: p, id: fmt.Sprint(i), target: keyOf("a.test:443")}
		for _, ev := range x.Fail(leaseOf(t, x, m, now), Fault{Signal: DialTimeout}, now) {
			if ev.Outage != NoOutage {
				changes = append(changes, ev.Outage)
			}
		}
	}
	return changes
}

func TestAllProxiesFailingAtOnceIsOurOwnFault(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1))
	reach(t, p, "a.test:443", epoch)
	changes := dialFailures(t, p, p.Proxies(), epoch.Add(time.Second))
	if len(changes) != 1 || changes[0] != OutageBegan {
		t.Fatalf("changes %v", changes)
	}
	for range 20 {
		dialFailures(t, p, p.Proxies(), epoch.Add(2*time.Second))
	}
	for i, m := range p.Proxies() {
		if s := m.breaker.Load().State(epoch); s != breaker.Closed {
			t.Errorf("proxy %d is %v", i, s)
		}
	}
}

func TestDuringAnOutageOneExchangeASecondTries(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1))
	reach(t, p, "a.test:443", epoch)
	dialFailures(t, p, p.Proxies(), epoch)
	admitted := 0
	for ms := range 5000 {
		_, refusal, _ := p.Begin(Request{ID: "test", Target: "a.test:443"}, epoch.Add(time.Duration(ms)*time.Millisecond))
		if refusal == nil {
			admitted++
		} else if refusal.TargetDown || refusal.RetryAfter != time.Second {
			t.Fatalf("refusal %+v", refusal)
		}
	}
	if admitted != 4 {
		t.Errorf("%d exchanges in five seconds", admitted)
	}
}

func TestAnOutageEndsWithTheFirstSuccess(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1))
	reach(t, p, "a.test:443", epoch)
	dialFailures(t, p, p.Proxies(), epoch)
	now := epoch.Add(time.Second)
	x := begin(t, p, "a.test:443", now)
	events := x.Reached(next(t, x, now), FirstByte, 0, now)
	ended := false
	for _, ev := range events {
		ended = ended || ev.Outage == OutageEnded
	}
	if !ended {
		t.Error("a success did not end it")
	}
	begin(t, p, "a.test:443", now)
	begin(t, p, "a.test:443", now)
}

func TestAPoolThatReallyIsDeadIsLearntAfterAWindow(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1))
	reach(t, p, "a.test:443", epoch)
	dialFailures(t, p, p.Proxies(), epoch)
	now := epoch.Add(p.outage.window)
	if _, refusal, events := p.Begin(Request{ID: "test", Target: "a.test:443"}, now); refusal != nil || len(events) != 1 || events[0].Outage != OutageGivenUp {
		t.Fatalf("refusal %v, events %v", refusal, events)
	}
	for range 10 {
		if changes := dialFailures(t, p, p.Proxies()[:1], now); len(changes) > 0 {
			t.Fatalf("the guard came back without a success: %v", changes)
		}
		if p.Proxies()[0].breaker.Load().Resting() {
			return
		}
	}
	t.Error("failures still do not count")
}

func TestSomeProxiesFailingIsTheirOwnFault(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1))
	reach(t, p, "a.test:443", epoch)
	if changes := dialFailures(t, p, p.Proxies()[:3], epoch); len(changes) > 0 {
		t.Errorf("three of four working proxies failed: %v", changes)
	}
}

func TestAPoolOfOneHasNoOutages(t *testing.T) {
	p := newTestPool(weighted(1))
	reach(t, p, "a.test:443", epoch)
	for range 4 {
		if changes := dialFailures(t, p, p.Proxies(), epoch); len(changes) > 0 {
			t.Errorf("changes %v: one proxy says nothing about the network", changes)
		}
	}
}

func TestOneUnluckyRequestIsNoOutage(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 1, 1, 1, 1, 1))
	reach(t, p, "a.test:443", epoch)
	x := begin(t, p, "a.test:443", epoch)
	for range 5 {
		x.Fail(next(t, x, epoch), Fault{Signal: DialRefused}, epoch)
	}
	x.End(epoch)
	if p.outage.on.Load() {
		t.Error("five failures of one request were taken for an outage")
	}
}

func TestFailuresFarApartAreNoOutage(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	reach(t, p, "a.test:443", epoch)
	dialFailures(t, p, p.Proxies()[:1], epoch)
	if changes := dialFailures(t, p, p.Proxies()[1:], epoch.Add(failedWithin)); len(changes) > 0 {
		t.Errorf("changes %v", changes)
	}
}

func TestProxiesThatNeverWorkedAreNoEvidenceOfAnOutage(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1))
	if changes := dialFailures(t, p, p.Proxies(), epoch); len(changes) > 0 {
		t.Errorf("changes %v", changes)
	}
}
