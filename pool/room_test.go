package pool

import (
	"testing"
	"time"
)

func TestAFullProxyIsPassedOverUntilItIsReleased(t *testing.T) {
	specs := weighted(1000, 1)
	specs[0].MaxInFlight = 2
	p := newTestPool(specs)
	var held []*Lease
	for range 2 {
		l := leaseFirst(t, p)
		held = append(held, l)
	}
	for range 50 {
		if l := next(t, begin(t, p, "a.test:1", epoch), epoch); l.Proxy == held[0].Proxy {
			t.Fatal("a third exchange at once")
		}
	}
	if p.Skips()[Full] == 0 {
		t.Error("nobody counted that it was full")
	}
	x := begin(t, p, "a.test:1", epoch)
	held[0].Release()
	held[0].Release() // a second time does nothing
	if got := held[0].Proxy.InFlight(); got != 1 {
		t.Fatalf("%d in flight after one of two was released", got)
	}
	for range 64 { // the draw meets it nearly always
		if l := next(t, x, epoch); l.Proxy == held[0].Proxy {
			return
		}
		x = begin(t, p, "a.test:1", epoch)
	}
	t.Error("it is not used again after a release")
}

// leaseFirst leases the first proxy of the pool, by exchanges that begin until
// one meets it.
func leaseFirst(t *testing.T, p *Pool) *Lease {
	t.Helper()
	for range 1000 {
		if l := next(t, begin(t, p, "a.test:1", epoch), epoch); l.Proxy == p.Proxies()[0] {
			return l
		}
	}
	t.Fatal("the first proxy is never picked")
	return nil
}

func TestAProxyIsUsedNoMoreOftenThanItsRate(t *testing.T) {
	specs := weighted(1)
	specs[0].Rate = 2
	p := newTestPool(specs)
	served := 0
	for ms := 0; ms < 10_000; ms += 10 {
		if _, err := serve(p, epoch.Add(time.Duration(ms)*time.Millisecond)); err == nil {
			served++
		}
	}
	if served < 20 || served > 22 {
		t.Errorf("served %d exchanges in 10 s at 2 a second", served)
	}
	late := epoch.Add(10 * time.Second)
	for range 3 {
		_, _ = serve(p, late)
	}
	if wait := p.RetryAfter(late); wait <= 0 || wait > time.Second/2 {
		t.Errorf("the next one may be used in %v, want half a second at most", wait)
	}
}

func TestAReloadChangesTheRateAndKeepsWhatIsInFlight(t *testing.T) {
	specs := weighted(1)
	p := newTestPool(specs)
	held := next(t, begin(t, p, "a.test:1", epoch), epoch)
	limited := weighted(1)
	limited[0].Rate, limited[0].MaxInFlight = 1, 2
	p.Replace(limited, epoch)
	if got := p.Proxies()[0].InFlight(); got != 1 {
		t.Errorf("%d in flight after the reload", got)
	}
	if _, err := serve(p, epoch); err != nil {
		t.Error(err)
	}
	if _, err := serve(p, epoch); err == nil {
		t.Error("the new rate is not in force")
	}
	p.Replace(weighted(1), epoch)
	for range 5 {
		if _, err := serve(p, epoch); err != nil {
			t.Error(err)
		}
	}
	held.Release()
	if got := p.Proxies()[0].InFlight(); got != 0 {
		t.Errorf("%d in flight in the end", got)
	}
}

func TestARateOfNextToNothingIsNotFreeAtOnce(t *testing.T) {
	specs := weighted(1)
	specs[0].Rate = 1e-12
	p := newTestPool(specs)
	if _, err := serve(p, epoch); err != nil {
		t.Fatal(err)
	}
	if got := p.RetryAfter(epoch); got != soon {
		t.Errorf("RetryAfter %v, want the longest", got)
	}
}
