package attempts

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"swivel/cmd/swivel/internal/reply"
	"swivel/pool"
	"swivel/pool/route"
)

// limitedLoop is a loop over one proxy that takes so many exchanges at once.
func limitedLoop(most int, s Settings) *Loop {
	spec := &pool.Spec{Host: "127.0.0.1", Port: 1000, Weight: 1, MaxInFlight: most}
	return New(pool.New([]*pool.Spec{spec}, pool.Options{}, time.Now()), s, func([]pool.Event) {})
}

func waiter() Settings {
	s := limits
	s.OnExhausted = Wait
	return s
}

func TestRequestsWaitForRoomInTheOrderTheyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop := limitedLoop(2, waiter())
		defer loop.Close()
		var inUse, most atomic.Int32
		var mu sync.Mutex
		var order []int
		var clients sync.WaitGroup
		for i := range 20 {
			clients.Go(func() {
				x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
				defer x.End()
				lease, err := run(context.Background(), x, func(context.Context, *pool.Lease) error { return nil })
				if err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), inUse.Add(1)))
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(100 * time.Millisecond)
				inUse.Add(-1)
				x.Reached(lease, pool.FirstByte, 0)
				lease.Release()
			})
			time.Sleep(time.Millisecond)
		}
		clients.Wait()
		if most.Load() != 2 {
			t.Errorf("%d at once, want the two that there is room for", most.Load())
		}
		for i, who := range order {
			if who < i-2 || who > i+2 { // looking by oneself may overtake by a place or two
				t.Fatalf("served in the order %v", order)
			}
		}
	})
}

func TestNobodyWaitsLongerThanAnExchangeMayTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop := limitedLoop(1, waiter())
		defer loop.Close()
		first := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
		held, err := run(context.Background(), first, func(context.Context, *pool.Lease) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
		_, err = run(context.Background(), x, func(context.Context, *pool.Lease) error { panic("there is no room") })
		var e *reply.Error
		if !errors.As(err, &e) || e.Code != "no_proxy" || time.Since(began) != limits.ExchangeTimeout {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		ctx, leave := context.WithTimeout(context.Background(), time.Second)
		defer leave()
		if _, err = run(ctx, x, func(context.Context, *pool.Lease) error { panic("there is no room") }); !errors.Is(err, ErrClientGone) {
			t.Errorf("a client that left meanwhile: %v", err)
		}
		held.Release()
		x.End()
		first.End()
	})
}

func TestNobodyWaitsForWhatTheListDoesNotHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop := limitedLoop(1, waiter())
		defer loop.Close()
		began := time.Now()
		x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443", Route: route.Route{Country: "xx"}})
		_, err := run(context.Background(), x, func(context.Context, *pool.Lease) error { panic("nobody is there") })
		x.End()
		var e *reply.Error
		if !errors.As(err, &e) || e.Code != "no_proxy" || time.Since(began) != 0 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// TestNobodyWaitsInVain has the only proxy banned for longer than an exchange
// takes, and then for less.
func TestNobodyWaitsInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, p := newLoop(t, 1, waiter())
		ban := func(rest time.Duration) {
			p.Report(pool.Report{Proxy: p.Proxies()[0], Target: "example.test:443", Verdict: pool.ReportedBanned, Rest: rest}, time.Now())
		}
		ask := func() (after time.Duration, e *reply.Error) {
			began := time.Now()
			x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
			defer x.End()
			lease, err := run(context.Background(), x, func(context.Context, *pool.Lease) error { return nil })
			if err == nil {
				x.Reached(lease, pool.FirstByte, 0)
				lease.Release()
			}
			errors.As(err, &e)
			return time.Since(began), e
		}
		ban(50 * time.Second)
		if after, e := ask(); e == nil || after != 0 || e.RetryAfter != 50*time.Second || !strings.Contains(e.Text, "kept away from this target") {
			t.Errorf("banned for long: %+v after %v", e, after)
		}
		ban(20 * time.Second)
		if after, e := ask(); e != nil || after < 20*time.Second || after > 21*time.Second {
			t.Errorf("banned for less: %v after %v", e, after)
		}
	})
}

func TestTheWaitingAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop := limitedLoop(1, waiter())
		defer loop.Close()
		first := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
		held, err := run(context.Background(), first, func(context.Context, *pool.Lease) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(context.Background())
		var refused atomic.Int32
		var clients sync.WaitGroup
		for range maxWaiting + 7 {
			clients.Go(func() {
				x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
				defer x.End()
				var e *reply.Error
				if _, err := run(ctx, x, func(context.Context, *pool.Lease) error { panic("there is no room") }); errors.As(err, &e) {
					refused.Add(1)
				}
			})
		}
		time.Sleep(time.Second)
		if n := refused.Load(); n != 7 {
			t.Errorf("%d were refused at once, want the 7 beyond the bound", n)
		}
		leave()
		clients.Wait()
		held.Release()
		first.End()
	})
}

func TestDirectIsForWhenAllProxiesFailed(t *testing.T) {
	for _, proxies := range []int{0, 2} {
		s := limits
		s.OnExhausted = Direct
		loop, p := newLoop(t, proxies, s)
		x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
		tries := 0
		lease, err := run(context.Background(), x, func(_ context.Context, l *pool.Lease) error {
			if tries++; l.Spec.Scheme != pool.Direct {
				return fails(pool.DialRefused)
			}
			return nil
		})
		if err != nil || tries != proxies+1 || lease.Proxy.ID != "direct" {
			t.Fatalf("%d proxies: %v after %d tries", proxies, err, tries)
		}
		x.Reached(lease, pool.FirstByte, time.Second)
		lease.Release()
		x.End()
		for _, m := range p.Proxies() {
			if len(m.Breaker().Snapshot(time.Now()).Failures) != 1 {
				t.Error("what a proxy failed at is not counted")
			}
		}
	}
}

// With as many proxies as attempts, or one that was tried again until they were
// spent, no attempt was left for the way without a proxy.
func TestDirectIsLeftWhenTheAttemptsAreSpentOnAllProxies(t *testing.T) {
	for _, c := range []struct {
		proxies int
		direct  bool
	}{{1, true}, {limits.Attempts, true}, {limits.Attempts + 1, false}} {
		s := limits
		s.OnExhausted = Direct
		loop, _ := newLoop(t, c.proxies, s)
		x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
		tries := 0
		lease, err := run(context.Background(), x, func(_ context.Context, l *pool.Lease) error {
			if tries++; l.Spec.Scheme != pool.Direct {
				return fails(pool.HandshakeClosed)
			}
			return nil
		})
		if direct := err == nil && lease.Proxy.ID == "direct"; direct != c.direct || tries < limits.Attempts {
			t.Errorf("%d proxies: direct %v, %v after %d tries", c.proxies, direct, err, tries)
		}
		if err == nil {
			x.Reached(lease, pool.FirstByte, time.Second)
			lease.Release()
		}
		x.End()
	}
}

func TestDirectIsTriedOnce(t *testing.T) {
	s := limits
	s.OnExhausted = Direct
	loop, _ := newLoop(t, 0, s)
	x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
	tries := 0
	_, err := run(context.Background(), x, func(context.Context, *pool.Lease) error { tries++; return fails(pool.TargetNamed) })
	x.End()
	var e *reply.Error
	if !errors.As(err, &e) || e.Code != "attempts_spent" || tries != 1 {
		t.Errorf("%v after %d tries", err, tries)
	}
}

func TestTheAnswerSaysWhoIsNotAvailable(t *testing.T) {
	spec := &pool.Spec{Host: "127.0.0.1", Port: 1000, Weight: 1, Country: "us"}
	p := pool.New([]*pool.Spec{spec, {Host: "127.0.0.1", Port: 1001, Weight: 1}}, pool.Options{}, time.Now())
	loop := New(p, limits, func([]pool.Event) {})
	defer loop.Close()
	ask := func(r route.Route) (lease *pool.Lease, text string) {
		x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443", Route: r})
		defer x.End()
		lease, err := run(context.Background(), x, func(context.Context, *pool.Lease) error { return nil })
		var e *reply.Error
		if errors.As(err, &e) {
			text = e.Text
		}
		return lease, text
	}
	strict := route.Route{Session: "s", Strict: true, Country: "us"}
	if lease, text := ask(strict); lease == nil {
		t.Fatal(text)
	}
	p.Pause(p.Proxies()[:1], pool.Pause{Reason: "away"})
	for _, c := range []struct {
		route route.Route
		want  string
	}{
		{strict, "the proxy of the session is not available, and the session is strict"},
		{route.Route{Country: "us"}, "no proxy that meets the routing keys is available"},
		{route.Route{Country: "xx"}, "no proxy of the list meets the routing key country"},
		{route.Route{}, ""},
	} {
		if _, text := ask(c.route); text != c.want {
			t.Errorf("%v: %q, want %q", c.route, text, c.want)
		}
	}
	p.Pause(p.Proxies(), pool.Pause{Reason: "all away"})
	if _, text := ask(route.Route{}); text != "no proxy of the pool is available" {
		t.Errorf("nobody at all: %q", text)
	}
}

// With the attempts spent, or nobody else in the pool, the client used to wait as
// long as for its first proxy, and then got the answer that had been there before.
func TestRunInThePlaceOfOneThatServedWaitedForNothing(t *testing.T) {
	for _, proxies := range []int{1, limits.Attempts + 1} {
		synctest.Test(t, func(t *testing.T) {
			s := limits
			s.OnExhausted = Wait
			loop, _ := newLoop(t, proxies, s)
			x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
			defer x.End()
			began, tries := time.Now(), 1
			lease, err := run(t.Context(), x, func(context.Context, *pool.Lease) error { return nil })
			for err == nil {
				x.Reached(lease, pool.Response, 0)
				lease.Release()
				lease, err = runAgain(x, lease, func() error { tries++; return nil })
			}
			if took := time.Since(began); took > time.Second || tries != limits.Attempts {
				t.Errorf("%d proxies: %d tries, and the end after %v: %v", proxies, tries, took, err)
			}
		})
	}
}
