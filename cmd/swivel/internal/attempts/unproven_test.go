package attempts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"swivel/breaker"
	"swivel/pool"
	"swivel/pool/route"
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

// twoProxies is a loop over one proxy that is hardly ever picked, and one that nearly
// always is.
func twoProxies(t *testing.T, s Settings) (loop *Loop, rare, usual *pool.Proxy) {
	t.Helper()
	p := pool.New([]*pool.Spec{{Host: "192.0.2.1", Port: 1, Weight: 1e-6}, {Host: "192.0.2.1", Port: 2, Weight: 1}}, pool.Options{}, time.Now())
	loop = New(p, s, func([]pool.Event) {})
	t.Cleanup(loop.Close)
	return loop, p.Proxies()[0], p.Proxies()[1]
}

// acquaint has a proxy serve an exchange.
func acquaint(t *testing.T, loop *Loop, m *pool.Proxy, target string) {
	t.Helper()
	x := loop.Begin(pool.Request{ID: "acquaint", Target: target, Route: route.Route{Proxy: string(m.ID)}})
	defer x.End()
	lease, err := run(context.Background(), x, func(context.Context, *pool.Lease) error { return nil })
	if err != nil || lease.Proxy != m {
		t.Fatal(err)
	}
	x.Reached(lease, pool.FirstByte, time.Millisecond)
	lease.Release()
}

// page makes an exchange that may be sent twice, if that is said, with a target that
// answers after a while. It returns when somebody was asked.
func page(ctx context.Context, loop *Loop, repeatable bool, answer func(*pool.Proxy) time.Duration) (x *Exchange, asked []time.Duration, err error) {
	x = loop.Begin(pool.Request{ID: "id", Target: "example.test:80"})
	defer x.End()
	began := time.Now()
	_, lease, err := Run(ctx, x, Plan[struct{}]{
		Try: func(ctx context.Context, l *pool.Lease) (struct{}, error) {
			select {
			case <-ctx.Done():
				return struct{}{}, waits(ctx, l)
			case <-time.After(answer(l.Proxy)):
				return struct{}{}, nil
			}
		},
		Late:  func(l *pool.Lease, _ struct{}) { x.Unused(l) },
		Probe: repeatable,
	})
	if err == nil {
		x.Reached(lease, pool.Response, 0)
		lease.Release()
	}
	for _, a := range x.Attempts() {
		asked = append(asked, a.Started.Sub(began))
	}
	return x, asked, err
}

// TestAPageIsNotWaitedForThroughAProxyThatHasServedNobody as long as through others,
// of which it is the target that takes its time. The list may be full of black holes.
func TestAPageIsNotWaitedForThroughAProxyThatHasServedNobody(t *testing.T) {
	const first, second = unknownHedge, 10 * time.Second // limits.FirstByte
	for _, c := range []struct {
		name             string
		known, bothKnown bool
		once, hedgeOff   bool
		asked            []time.Duration
	}{
		{name: "nobody has served", asked: []time.Duration{0, second}},
		{name: "another one has", known: true, asked: []time.Duration{0, first}},
		{name: "it has served itself", known: true, bothKnown: true, asked: []time.Duration{0, second}},
		{name: "it must not be sent twice", known: true, once: true, asked: []time.Duration{0}},
		{name: "nothing is sent twice", known: true, hedgeOff: true, asked: []time.Duration{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := limits
				s.HedgeOff = c.hedgeOff
				loop, rare, usual := twoProxies(t, s)
				if c.known {
					acquaint(t, loop, rare, "other.test:443")
				}
				if c.bothKnown {
					acquaint(t, loop, usual, "other.test:443")
				}
				_, asked, err := page(context.Background(), loop, !c.once, func(m *pool.Proxy) time.Duration {
					if m == usual {
						return 15 * time.Second
					}
					return 0
				})
				if err != nil || !slices.Equal(asked, c.asked) {
					t.Errorf("asked at %v, want %v: %v", asked, c.asked, err)
				}
			})
		})
	}
}

// A page that took nine seconds was asked for through five proxies while the pool was
// new, and clients that did not wait for it had sound proxies and the target blamed.
func TestASlowPageIsNobodysFaultWhileNobodyIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, _, _ := twoProxies(t, Settings{Attempts: 5, ExchangeTimeout: 30 * time.Second, FirstByte: 10 * time.Second, Response: time.Minute, RetryBudget: 0.2})
		slow := func(*pool.Proxy) time.Duration { return 9 * time.Second }
		if _, asked, err := page(context.Background(), loop, true, slow); err != nil || len(asked) != 1 {
			t.Errorf("asked at %v: %v", asked, err)
		}
		loop, rare, usual := twoProxies(t, loop.Settings)
		acquaint(t, loop, rare, "other.test:443")
		for range 5 {
			ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
			x, asked, err := page(ctx, loop, true, slow)
			cancel()
			if !errors.Is(err, ErrClientGone) || len(asked) != 2 {
				t.Errorf("asked at %v: %v", asked, err)
			}
			for _, a := range x.Attempts() {
				if a.Outcome != breaker.Ignored {
					t.Errorf("%v of a client that left", a.Outcome)
				}
			}
			acquaint(t, loop, rare, "other.test:443") // elsewhere all is well
		}
		acquaint(t, loop, rare, "example.test:80") // who could not reach it, when it can be reached, has failed
		for _, m := range []*pool.Proxy{rare, usual} {
			if s := m.Breaker().Snapshot(time.Now()); len(s.Failures) > 0 || s.Suspicions > 0 {
				t.Errorf("blamed: %+v", s)
			}
		}
		if _, _, err := page(context.Background(), loop, true, func(*pool.Proxy) time.Duration { return 0 }); err != nil {
			t.Error("the target is up:", err)
		}
	})
}

// A page through a proxy that nobody knew became overdue after four seconds, when the
// proxy had meanwhile served somebody else.
func TestAStrangerThatServesMeanwhileIsNotOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, rare, usual := twoProxies(t, Settings{Attempts: 5, ExchangeTimeout: 30 * time.Second, FirstByte: 10 * time.Second, Response: time.Minute, RetryBudget: 0.2})
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		go func() {
			time.Sleep(3 * time.Second)
			acquaint(t, loop, usual, "other.test:443")
		}()
		_, asked, err := page(ctx, loop, true, func(*pool.Proxy) time.Duration { return 9 * time.Second })
		if !errors.Is(err, ErrClientGone) || len(asked) != 1 {
			t.Errorf("asked at %v: %v", asked, err)
		}
		acquaint(t, loop, rare, "example.test:80") // who could not reach it, when it can be reached, has failed
		if s := usual.Breaker().Snapshot(time.Now()); len(s.Failures) > 0 {
			t.Errorf("blamed: %+v", s)
		}
	})
}

// A black hole that is overtaken is held against it, or it would be asked again and
// again until the first of its time-outs.
func TestABlackHoleThatIsOvertakenIsSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, rare, usual := twoProxies(t, Settings{Attempts: 5, ExchangeTimeout: 30 * time.Second, FirstByte: 10 * time.Second, Response: time.Minute, RetryBudget: 0.2})
		acquaint(t, loop, rare, "other.test:443")
		for range 5 {
			if _, asked, err := page(context.Background(), loop, true, func(m *pool.Proxy) time.Duration {
				if m == usual {
					return time.Minute
				}
				return 0
			}); err != nil || len(asked) != 2 {
				t.Errorf("asked at %v: %v", asked, err)
			}
		}
		if !usual.Overdue() {
			t.Error("it is still picked")
		}
	})
}
