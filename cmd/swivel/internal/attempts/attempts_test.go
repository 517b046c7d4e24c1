package attempts

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/reply"
	"swivel/pool"
	"swivel/pool/upstream"
)

var limits = Settings{Attempts: 3, ExchangeTimeout: 30 * time.Second, FirstByte: 10 * time.Second, Response: time.Minute, HedgeOff: true}

// newLoop is a loop over n proxies.
func newLoop(t *testing.T, n int, s Settings) (*Loop, *pool.Pool) {
	t.Helper()
	var specs []*pool.Spec
	for i := range n {
		more, err := pool.ParseLine(fmt.Sprintf("127.0.0.1:%d", 1000+i), nil)
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, more...)
	}
	p := pool.New(specs, pool.Options{}, time.Now())
	loop := New(p, s, func([]pool.Event) {})
	t.Cleanup(loop.Close)
	return loop, p
}

// run tries one proxy after the other.
func run(ctx context.Context, x *Exchange, try func(context.Context, *pool.Lease) error) (*pool.Lease, error) {
	_, lease, err := Run(ctx, x, Plan[struct{}]{
		Try:   func(ctx context.Context, l *pool.Lease) (struct{}, error) { return struct{}{}, try(ctx, l) },
		Late:  func(l *pool.Lease, _ struct{}) { x.Unused(l) },
		Hedge: true,
	})
	return lease, err
}

func fails(s pool.Signal) error { return &upstream.Error{Signal: s} }

func TestAnswerWhenNobodyServes(t *testing.T) {
	for _, test := range []struct {
		name    string
		signals []pool.Signal // one per attempt
		final   bool          // the last of them
		status  int
		code    string
		tries   int
	}{
		{"all refused", []pool.Signal{pool.DialRefused, pool.DialRefused, pool.DialRefused}, false, 502, "attempts_spent", 3},
		{"all timed out", []pool.Signal{pool.DialTimeout, pool.HandshakeTimeout, pool.ResponseTimeout}, false, 504, "timeout", 3},
		{"one did not time out", []pool.Signal{pool.DialTimeout, pool.HandshakeAuth, pool.DialTimeout}, false, 502, "attempts_spent", 3},
		{"not repeatable", []pool.Signal{pool.DialRefused, pool.ResponseClosed}, true, 502, "attempts_spent", 2},
		{"not repeatable, too late", []pool.Signal{pool.ResponseTimeout}, true, 504, "timeout", 1},
		{"target named twice", []pool.Signal{pool.TargetNamed, pool.TargetNamed}, false, 502, "target_down", 2},
		{"our own fault", []pool.Signal{pool.LocalFault, pool.LocalFault, pool.LocalFault}, false, 503, "over_capacity", 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			loop, _ := newLoop(t, 5, limits)
			x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
			tries := 0
			_, err := run(context.Background(), x, func(context.Context, *pool.Lease) error {
				err := fails(test.signals[tries])
				if tries++; test.final && tries == len(test.signals) {
					return &Final{err}
				}
				return err
			})
			x.End()
			var e *reply.Error
			if !errors.As(err, &e) || e.Status != test.status || e.Code != test.code || tries != test.tries {
				t.Errorf("%v after %d tries", err, tries)
			}
		})
	}
}

func TestEmptyPoolIsToldAsSuch(t *testing.T) {
	loop, _ := newLoop(t, 0, limits)
	x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
	defer x.End()
	_, err := run(context.Background(), x, func(context.Context, *pool.Lease) error { panic("there is nobody to try") })
	var e *reply.Error
	if !errors.As(err, &e) || e.Status != 503 || e.Code != "no_proxy" || e.RetryAfter < time.Second {
		t.Errorf("%v", err)
	}
}

// waits is an attempt that ends with its context, as the dialer reports it.
func waits(ctx context.Context, _ *pool.Lease) error {
	<-ctx.Done()
	return &upstream.Error{Signal: pool.ClientGone, Err: ctx.Err()}
}

func TestOwnDeadlineIsNotAClientThatLeft(t *testing.T) {
	for _, test := range []struct {
		name   string
		before error
		wait   time.Duration // of the first attempt
		status int
		after  pool.Signal // of the first attempt; one that was cut off runs on
	}{
		{"the only attempt", nil, 0, 504, pool.NoSignal},
		{"behind another timeout", fails(pool.HandshakeTimeout), 10 * time.Second, 504, pool.HandshakeTimeout},
		{"behind a failure", fails(pool.DialRefused), 0, 502, pool.DialRefused},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				loop, _ := newLoop(t, 3, limits)
				x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
				began := time.Now()
				var tries atomic.Int32 // one that is cut off runs on
				_, err := run(context.Background(), x, func(ctx context.Context, l *pool.Lease) error {
					if tries.Add(1) == 1 && test.before != nil {
						time.Sleep(test.wait)
						return test.before
					}
					return waits(ctx, l)
				})
				x.End()
				var e *reply.Error
				if !errors.As(err, &e) || e.Status != test.status || time.Since(began) != limits.ExchangeTimeout {
					t.Errorf("%v after %v", err, time.Since(began))
				}
				for _, a := range x.Attempts()[tries.Load()-1:] {
					if s := a.Proxy.Breaker().Snapshot(time.Now()); len(s.Failures) > 0 || s.Suspicions > 0 {
						t.Errorf("the last attempt's proxy is blamed: %+v", s)
					}
				}
				if got := x.Attempts()[0].Signal; got != test.after {
					t.Errorf("signal %v", got)
				}
			})
		})
	}
}

func TestClientThatLeavesEndsTheExchange(t *testing.T) {
	loop, p := newLoop(t, 3, limits)
	for name, try := range map[string]func(context.Context, *pool.Lease) error{
		"told by the dialer":         waits,
		"while the proxy fails":      func(ctx context.Context, _ *pool.Lease) error { <-ctx.Done(); return fails(pool.TargetNamed) },
		"behind an unrepeatable one": func(ctx context.Context, l *pool.Lease) error { return &Final{waits(ctx, l)} },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
			tries := 0
			_, err := run(ctx, x, func(ctx context.Context, l *pool.Lease) error {
				tries++
				cancel()
				return try(ctx, l)
			})
			x.End()
			if !errors.Is(err, ErrClientGone) || tries != 1 {
				t.Errorf("%v after %d tries", err, tries)
			}
		})
	}
	for _, m := range p.Proxies() {
		if s := m.Breaker().Snapshot(time.Now()); len(s.Failures) > 0 || s.Suspicions > 0 {
			t.Errorf("a proxy is blamed: %+v", s)
		}
	}
}

func TestEarlierProxiesAreBlamedOnceAnotherReachesTheTarget(t *testing.T) {
	loop, _ := newLoop(t, 2, limits)
	x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
	tries := 0
	lease, err := run(context.Background(), x, func(context.Context, *pool.Lease) error {
		if tries++; tries == 1 {
			return fails(pool.HandshakeGateway)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	x.Reached(lease, pool.FirstByte, 0)
	x.End()
	first, second := x.Attempts()[0], x.Attempts()[1]
	if first.Outcome != breaker.Failure || second.Outcome != breaker.Success || first.Proxy == second.Proxy {
		t.Errorf("%v, %v", first.Outcome, second.Outcome)
	}
}

func TestEventsCarryTheExchangeThatCausedThem(t *testing.T) {
	loop, _ := newLoop(t, 1, limits)
	var ids []string
	loop.sink = func(events []pool.Event) {
		if len(events) == 0 {
			t.Error("the sink is called for nothing")
		}
		for _, ev := range events {
			ids = append(ids, ev.Request)
		}
	}
	x := loop.Begin(pool.Request{ID: "id 7", Target: "example.test:443"})
	defer x.End()
	_, _ = run(context.Background(), x, func(context.Context, *pool.Lease) error { return fails(pool.HandshakeAuth) })
	if len(ids) != 1 || ids[0] != "id 7" {
		t.Errorf("events of %q", ids)
	}
}

func TestTheAnswerSaysWhenTheProxiesThatAskedForAPauseAreBack(t *testing.T) {
	for proxies, want := range map[int]bool{1: true, 2: false} {
		loop, _ := newLoop(t, proxies, Settings{Attempts: 1, ExchangeTimeout: time.Minute, HedgeOff: true})
		x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
		_, err := run(context.Background(), x, func(context.Context, *pool.Lease) error {
			return &upstream.Error{Signal: pool.HandshakeThrottled, RetryAfter: 20 * time.Second}
		})
		x.End()
		var e *reply.Error
		if !errors.As(err, &e) || e.RetryAfter > 0 != want {
			t.Errorf("%d proxies: %v, to be tried again after %v", proxies, err, e.RetryAfter)
		}
	}
}

// runAgain tries proxies in the place of one that had served.
func runAgain(x *Exchange, after *pool.Lease, try func() error) (*pool.Lease, error) {
	_, lease, err := Run(context.Background(), x, Plan[struct{}]{
		Try:   func(context.Context, *pool.Lease) (struct{}, error) { return struct{}{}, try() },
		Late:  func(l *pool.Lease, _ struct{}) { x.Unused(l) },
		After: after,
	})
	return lease, err
}

func TestARunInThePlaceOfOneThatServedHasTheAttemptsThatAreLeft(t *testing.T) {
	loop, _ := newLoop(t, 5, limits)
	x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
	defer x.End()
	tries := 0
	try := func(context.Context, *pool.Lease) error {
		if tries++; tries == 2 {
			return nil
		}
		return fails(pool.HandshakeGateway)
	}
	lease, err := run(context.Background(), x, try)
	if err != nil {
		t.Fatal(err)
	}
	x.Fail(lease, pool.Fault{Signal: pool.TunnelClosed})
	if _, err = runAgain(x, lease, func() error { return try(nil, nil) }); err == nil || tries != limits.Attempts {
		t.Errorf("%d tries in all, and %v", tries, err)
	}
	seen := map[*pool.Proxy]bool{}
	for _, a := range x.Attempts() {
		seen[a.Proxy] = true
	}
	if len(seen) != limits.Attempts {
		t.Errorf("%d different proxies in %d attempts", len(seen), tries)
	}
}

func TestARunInThePlaceOfOneThatServedIsARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which no time passes
		loop, _ := newLoop(t, 5, limits)
		x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
		defer x.End()
		lease, err := run(context.Background(), x, func(context.Context, *pool.Lease) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		x.Fail(lease, pool.Fault{Signal: pool.TunnelClosed})
		for loop.extra.Spend(time.Now()) { // all that there is
		}
		tries := 0
		try := func() error { tries++; return nil }
		if _, err := runAgain(x, lease, try); err == nil || tries != 0 {
			t.Errorf("without a budget: %d tries, %v", tries, err)
		}
		again, err := runAgain(x, &pool.Lease{Proxy: lease.Proxy, Probe: true}, try) // for which the client had not asked
		if err != nil || tries != 1 {
			t.Fatalf("behind a probe: %d tries, %v", tries, err)
		}
		x.Reached(again, pool.FirstByte, 0)
	})
}

// One that must not be repeated is told all that was tried for it, and 504 only when
// all of it ran out of time.
func TestUnrepeatableRequestIsToldAllAttempts(t *testing.T) {
	for want, before := range map[string]error{
		"attempts_spent: 2 attempts failed: 1 could not connect to the proxy, 1 got no answer in time": fails(pool.DialRefused),
		"timeout: 2 attempts, none answered in time":                                                   fails(pool.DialTimeout),
	} {
		loop, _ := newLoop(t, 3, limits)
		x := loop.Begin(pool.Request{ID: "id", Target: "example.test:80"})
		tries := 0
		_, err := run(context.Background(), x, func(context.Context, *pool.Lease) error {
			if tries++; tries == 1 {
				return before
			}
			return &Final{fails(pool.ResponseTimeout)}
		})
		x.End()
		if err == nil || err.Error() != want+"; the request was sent, and it is not safe to repeat" || tries != 2 {
			t.Errorf("%v after %d tries", err, tries)
		}
	}
}

// A slow attempt in a pool without a second proxy used to take a token whenever its
// hedge was due again, until nobody could retry any more.
func TestHedgeThatNobodyCanTakeCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := limits
		s.HedgeOff, s.HedgeAfter = false, 10*time.Millisecond
		loop, p := newLoop(t, 2, s)
		p.Pause(p.Proxies()[:1], pool.Pause{Reason: "away"})
		x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
		defer x.End()
		lease, err := run(context.Background(), x, func(context.Context, *pool.Lease) error {
			time.Sleep(2 * time.Second)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		x.Reached(lease, pool.FirstByte, 0)
		if left := loop.RetryBudget(time.Now()); left != extraCapacity {
			t.Errorf("%v tokens are left of %v", left, extraCapacity)
		}
	})
}

// The attempt that was the last one, for whatever reason, used to cost a token as if
// another had followed.
func TestRetryThatNobodyIsLeftForCostsNothing(t *testing.T) {
	for name, test := range map[string]struct {
		proxies int
		signal  pool.Signal
		retries int
	}{
		"no other proxy":       {1, pool.DialRefused, 0},
		"all have been tried":  {2, pool.DialRefused, 1},
		"no attempts are left": {5, pool.DialRefused, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // in which no time passes
				loop, _ := newLoop(t, test.proxies, limits)
				at, _, _ := asked(loop, t.Context(), test.signal)
				if left := loop.RetryBudget(time.Now()); left != extraCapacity-float64(test.retries) || len(at) != 1+test.retries {
					t.Errorf("after %d attempts %v tokens are left of %v", len(at), left, extraCapacity)
				}
			})
		})
	}
}

func TestRetryWhoseClientLeavesInThePauseCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, _ := newLoop(t, 1, limits)
		for loop.extra.Spend(time.Now()) { // all but one, so that time cannot hide it
		}
		loop.extra.GiveBack()
		ctx, cancel := context.WithTimeout(t.Context(), firstPause/4)
		defer cancel()
		_, _, err := asked(loop, ctx, pool.HandshakeClosed)
		if left := loop.RetryBudget(time.Now()); !errors.Is(err, ErrClientGone) || left < 1 {
			t.Errorf("%v, and %v tokens are left of 1", err, left)
		}
	})
}

func TestRunInThePlaceOfOneThatServedCostsNothingWhenNobodyIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loop, _ := newLoop(t, 1, limits)
		x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
		defer x.End()
		lease, err := run(context.Background(), x, func(context.Context, *pool.Lease) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		x.Fail(lease, pool.Fault{Signal: pool.DialRefused})
		lease.Release()
		if _, err := runAgain(x, lease, func() error { t.Error("tried"); return nil }); err == nil {
			t.Error("somebody served")
		}
		if left := loop.RetryBudget(time.Now()); left != extraCapacity {
			t.Errorf("%v tokens are left of %v", left, extraCapacity)
		}
	})
}
