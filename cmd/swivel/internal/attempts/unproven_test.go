package attempts

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"swivel/pool"
)

// visit makes an exchange, and returns how many attempts it took; 0: it was not
// served.
func visit(loop *Loop, id string, serves func(*pool.Proxy) bool) (tries int) {
	x := loop.Begin(pool.Request{ID: id, Target: id + ".test:443"})
	defer x.End()
	lease, err := run(context.Background(), x, func(_ context.Context, l *pool.Lease) error {
		if tries++; serves(l.Proxy) {
			return nil
		}
		return fails(pool.DialRefused)
	})
	if err != nil {
		return 0
	}
	x.Reached(lease, pool.FirstByte, time.Millisecond)
	lease.Release()
	return tries
}

// TestTheLastAttemptFindsOutAboutNobody: one of many proxies is known to serve. Who
// has met others so far must not meet one more of them with the last attempt.
func TestTheLastAttemptFindsOutAboutNobody(t *testing.T) {
	for attempts := 1; attempts <= 3; attempts++ {
		s := limits
		s.Attempts = attempts
		loop, p := newLoop(t, 200, s)
		sound := p.Proxies()[7]
		serves := func(m *pool.Proxy) bool { return m == sound }
		for i := 0; visit(loop, fmt.Sprint(i), serves) == 0; i++ { // until it is met by chance
		}
		served := 0
		for i := range 20 {
			if visit(loop, fmt.Sprint("later", i), serves) > 0 {
				served++
			}
		}
		if all := served == 20; all != (attempts > 1) {
			t.Errorf("%d attempts: %d of 20 were served", attempts, served)
		}
	}
}

// TestAPageIsNotWaitedForThroughAProxyThatHasServedNobody as long as through others,
// of which it is the target that takes its time. The list may be full of black holes.
func TestAPageIsNotWaitedForThroughAProxyThatHasServedNobody(t *testing.T) {
	const slow = 15 * time.Second
	for _, c := range []struct {
		name       string
		served     bool
		repeatable bool
		hedgeOff   bool
		want       time.Duration
	}{
		{name: "nobody knows the proxies", repeatable: true, want: unknownHedge},
		{name: "all have served", repeatable: true, served: true, want: limits.FirstByte},
		{name: "it must not be sent twice", want: slow},
		{name: "nothing is sent twice", repeatable: true, hedgeOff: true, want: slow},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := limits
				s.HedgeOff = c.hedgeOff
				loop, p := newLoop(t, 3, s)
				for i := 0; c.served && !allHaveServed(p); i++ {
					visit(loop, fmt.Sprint(i), func(*pool.Proxy) bool { return true })
				}
				x := loop.Begin(pool.Request{ID: "id", Target: "example.test:80"})
				defer x.End()
				began := time.Now()
				_, lease, err := Run(context.Background(), x, Plan[struct{}]{
					Try: func(_ context.Context, l *pool.Lease) (struct{}, error) {
						if l.Proxy == x.Attempts()[0].Proxy {
							time.Sleep(slow)
						}
						return struct{}{}, nil
					},
					Late:  func(l *pool.Lease, _ struct{}) { x.Unused(l) },
					Probe: c.repeatable,
				})
				if took := time.Since(began); err != nil || took != c.want {
					t.Fatalf("after %v, want %v: %v", took, c.want, err)
				}
				x.Reached(lease, pool.Response, 0)
				lease.Release()
			})
		})
	}
}

func allHaveServed(p *pool.Pool) bool {
	for _, m := range p.Proxies() {
		if !m.HasServed() {
			return false
		}
	}
	return true
}
