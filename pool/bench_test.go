package pool

import (
	"fmt"
	"testing"

	"swivel/breaker"
)

// BenchmarkPick is one pick with its report, for pools of several sizes and
// with nine of ten proxies open.
func BenchmarkPick(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		for _, open := range []int{0, 90} {
			b.Run(fmt.Sprintf("proxies=%d/open=%d%%", n, open), func(b *testing.B) { benchmarkPick(b, n, open) })
		}
	}
}

func benchmarkPick(b *testing.B, n, open int) {
	specs := make([]*Spec, n)
	for i := range specs {
		specs[i] = &Spec{Host: fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255), Port: 1080, Weight: float64(1 + i%5)}
	}
	p := newTestPool(specs)
	for i := range n * open / 100 {
		m := p.Proxies()[(i*7919)%n]
		permit, _, ok := m.breaker.Load().Acquire(epoch, leaseTime)
		if ok {
			p.settle(m, permits{own: permit}, breaker.Verdict{Outcome: breaker.Refused}, Event{}, epoch, new([]Event))
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		x, _, _ := p.Begin(Request{ID: "bench", Target: "target.test:443"}, epoch)
		var events []Event
		for pb.Next() {
			g, ok := x.pick(epoch, leaseTime, true, &events)
			if !ok {
				b.Error("nobody was picked")
				return
			}
			g.proxy.breaker.Load().Report(g.permit.own, breaker.Verdict{}, epoch)
			g.proxy.inFlight.Add(-1)
		}
	})
}
