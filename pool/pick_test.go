package pool

import (
	"math"
	"sync"
	"testing"
	"time"

	"swivel/breaker"
)

// count makes picks from several goroutines and counts them by proxy.
func count(t *testing.T, p *Pool, picks, goroutines int, now time.Time) map[ID]int {
	t.Helper()
	counts := map[ID]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range picks / goroutines {
				m, err := serve(p, now)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				counts[m.ID]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return counts
}

func checkShares(t *testing.T, p *Pool, counts map[ID]int, picks int, want ...float64) {
	t.Helper()
	for i, m := range p.Proxies() {
		got := float64(counts[m.ID]) / float64(picks)
		if math.Abs(got-want[i]) > 0.02 {
			t.Errorf("proxy %d got %.1f %% of the picks, want %.1f %%", i, 100*got, 100*want[i])
		}
	}
}

func TestSharesFollowTheWeights(t *testing.T) {
	for _, goroutines := range []int{1, 64} {
		const picks = 64 * 400 // more than 10,000, so that chance alone stays within two points
		p := newTestPool(weighted(1, 3, 6))
		checkShares(t, p, count(t, p, picks, goroutines, epoch), picks, 0.1, 0.3, 0.6)
	}
}

func TestSharesStayRightWhileAMemberIsOut(t *testing.T) {
	for _, goroutines := range []int{1, 64} {
		const picks = 64 * 400
		p := newTestPool(weighted(1, 3, 6))
		trip(t, p, 1, epoch)
		checkShares(t, p, count(t, p, picks, goroutines, epoch), picks, 1.0/7, 0, 6.0/7)
	}
}

func TestSharesAreRightWhenOnlyTheListScanFindsThem(t *testing.T) {
	// The heavy member is out and tried first by nearly every draw.
	const picks = 20_000
	p := newTestPool(weighted(1e9, 1, 3))
	trip(t, p, 0, epoch)
	checkShares(t, p, count(t, p, picks, 1, epoch), picks, 0, 0.25, 0.75)
}

func TestFirstPickIsNotAlwaysTheFirstEntry(t *testing.T) {
	seen := map[ID]bool{}
	for range 200 {
		m, err := serve(newTestPool(weighted(1, 1, 1)), epoch)
		if err != nil {
			t.Fatal(err)
		}
		seen[m.ID] = true
	}
	if len(seen) != 3 {
		t.Errorf("the first pick was one of %d proxies in 200 starts, want 3", len(seen))
	}
}

func TestWeightZeroIsNeverPicked(t *testing.T) {
	p := newTestPool(weighted(0, 1))
	if counts := count(t, p, 2000, 1, epoch); counts[p.Proxies()[0].ID] != 0 {
		t.Error("a proxy of weight 0 was picked")
	}
	for _, weights := range [][]float64{{0, 0}, {0}, {}} {
		p := newTestPool(weighted(weights...))
		if m, err := serve(p, epoch); err == nil {
			t.Errorf("weights %v: picked %v", weights, m.ID)
		}
	}
}

func TestAnExchangeTriesEachProxyOnce(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1, 100))
	x := begin(t, p, "target.test:443", epoch)
	seen := map[ID]bool{}
	for range 4 {
		l := next(t, x, epoch)
		if seen[l.Proxy.ID] {
			t.Fatal("a proxy was tried twice")
		}
		seen[l.Proxy.ID] = true
		x.Fail(l, Fault{Signal: DialRefused}, epoch)
	}
	if _, _, ok := x.Next(epoch, leaseTime, true); ok {
		t.Error("a fifth attempt in a pool of four")
	}
}

func TestTheOnlyProxyIsTriedAgain(t *testing.T) {
	p := newTestPool(weighted(1, 0))
	x := begin(t, p, "target.test:443", epoch)
	for range 3 {
		x.Fail(next(t, x, epoch), Fault{Signal: HandshakeClosed}, epoch)
	}
	if n := len(x.Attempts()); n != 3 {
		t.Errorf("%d attempts", n)
	}
}

func TestARotatingProxyIsTriedAgain(t *testing.T) {
	specs := weighted(1, 1)
	specs[0].Rotating = true
	x := begin(t, newTestPool(specs), "target.test:443", epoch)
	for range 5 {
		x.Fail(next(t, x, epoch), Fault{Signal: HandshakeClosed}, epoch)
	}
}

func TestOnlyOneExchangeProbesADueProxy(t *testing.T) {
	p := newTestPool(weighted(1))
	trip(t, p, 0, epoch)
	due := epoch.Add(30 * time.Second)
	if _, _, ok := begin(t, p, "a.test:1", due.Add(-time.Millisecond)).Next(due.Add(-time.Millisecond), leaseTime, true); ok {
		t.Fatal("an open proxy was leased before its rest was over")
	}
	probe := begin(t, p, "a.test:1", epoch)
	l, events, ok := probe.Next(due, leaseTime, true)
	if !ok || !l.Probe || len(events) != 1 || events[0].Effect.Transition.To != breaker.HalfOpen {
		t.Fatalf("the first exchange after the rest: ok %v, events %v", ok, events)
	}
	for range 99 {
		if _, _, ok := begin(t, p, "a.test:1", due).Next(due, leaseTime, true); ok {
			t.Fatal("a second lease while the probe is out")
		}
	}
	probe.Reached(l, FirstByte, 0, due)
	if _, _, ok := begin(t, p, "a.test:1", due).Next(due, leaseTime, true); !ok {
		t.Error("no second probe after the first succeeded")
	}
}

func TestALostProbeIsReportedByAPickThatFindsNobody(t *testing.T) {
	p := newTestPool(weighted(1))
	trip(t, p, 0, epoch)
	due := epoch.Add(30 * time.Second)
	next(t, begin(t, p, "a.test:1", due), due) // and never reported
	_, events, ok := begin(t, p, "a.test:1", due.Add(leaseTime)).Next(due.Add(leaseTime), leaseTime, true)
	if ok || len(events) != 1 || events[0].Effect.Transition.To != breaker.Open {
		t.Errorf("ok %v, events %+v; want the breaker open again", ok, events)
	}
}

func TestDueProxiesAreNotAllWokenAtOnce(t *testing.T) {
	const members, rate = 200, 5.0
	weights := make([]float64, members)
	for i := range weights {
		weights[i] = 1
	}
	s := breaker.DefaultSettings()
	s.Jitter = 0
	p := New(weighted(weights...), Options{Breaker: s, Salt: []byte("salt"), ProbeRate: rate}, epoch)
	for i := range members {
		trip(t, p, i, epoch)
	}
	allowed := rate + members/100.0 // a second
	probes := 0
	for ms := 0; ms < 10_000; ms += 10 {
		now := epoch.Add(time.Minute + time.Duration(ms)*time.Millisecond)
		if _, _, ok := begin(t, p, "a.test:1", now).Next(now, leaseTime, true); ok {
			probes++
		}
	}
	if most := int(allowed*10 + allowed + 1); probes > most {
		t.Errorf("%d probes in 10 s, allowed are %d", probes, most)
	}
	if least := int(allowed*10 - 1); probes < least {
		t.Errorf("%d probes in 10 s although %d were allowed and all proxies due", probes, least)
	}
}

func TestAPickDoesNotAllocate(t *testing.T) {
	p := newTestPool(weighted(1, 2, 3, 4, 5, 6, 7, 8))
	trip(t, p, 3, epoch)
	x := begin(t, p, "target.test:443", epoch)
	var events []Event
	n := testing.AllocsPerRun(1000, func() {
		if g, ok := x.pick(epoch, leaseTime, true, &events); ok {
			g.proxy.breaker.Load().Report(g.permit.own, breaker.Verdict{}, epoch)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations per pick", n)
	}
}
