package pool

import (
	"fmt"
	"testing"

	"swivel/pool/route"
)

// varied is a pool whose members differ in what clients can ask for.
func varied(n int) *Pool {
	specs := make([]*Spec, n)
	for i := range specs {
		specs[i] = &Spec{
			Host: fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255), Port: 1080, Weight: 1,
			Country: [...]string{"de", "fr", "us", "gb"}[i%4], City: fmt.Sprintf("city%d", i%100),
		}
	}
	return newTestPool(specs)
}

// BenchmarkPickAsked is a pick by who asks for a country that others have asked
// for before.
func BenchmarkPickAsked(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("proxies=%d", n), func(b *testing.B) {
			p := varied(n)
			b.ReportAllocs()
			for b.Loop() {
				x, _, _ := p.Begin(Request{ID: "bench", Target: "target.test:443", Route: route.Route{Country: "de"}}, epoch)
				var events []Event
				if g, ok := x.pick(epoch, leaseTime, true, &events); ok {
					g.proxy.inFlight.Add(-1)
				}
			}
		})
	}
}

// BenchmarkView is what the first one pays who asks for something.
func BenchmarkView(b *testing.B) {
	s := varied(100_000).current.Load()
	for name, c := range map[string]route.Constraints{
		"a quarter": {Country: "de"}, "a hundredth": {City: "city7"}, "nobody": {Country: "xx"}, "one by name": {Proxy: "10.0.1.7:1080"},
		"one by id": {Proxy: string(s.proxies[7].ID)},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.views.by = nil
				s.view(c, Weighted, atOnce)
			}
		})
	}
}
