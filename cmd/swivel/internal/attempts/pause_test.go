package attempts

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"swivel/cmd/swivel/internal/reply"
	"swivel/pool"
)

// asked runs an exchange in which every attempt fails with the signal, and returns
// when they were made, from its beginning, and when it ended.
func asked(loop *Loop, ctx context.Context, s pool.Signal) (at []time.Duration, end time.Duration, err error) {
	began := time.Now()
	x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
	defer x.End()
	_, err = run(ctx, x, func(context.Context, *pool.Lease) error {
		at = append(at, time.Since(began))
		return fails(s)
	})
	return at, time.Since(began), err
}

func TestTheOnlyProxyIsNotHammered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := limits
		s.Attempts = 5
		loop, _ := newLoop(t, 1, s)
		at, _, _ := asked(loop, t.Context(), pool.HandshakeClosed)
		if len(at) != 5 || at[0] != 0 {
			t.Fatalf("asked at %v", at)
		}
		usual := firstPause
		for i := range 4 {
			if d := at[i+1] - at[i]; d < usual/2 || d > usual*3/2 {
				t.Errorf("pause %d is %v, want about %v", i, d, usual)
			}
			usual *= 2
		}
	})
}

func TestNobodyPausesBeforeAnotherProxyOrTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		several, _ := newLoop(t, 3, limits)
		if at, end, _ := asked(several, t.Context(), pool.HandshakeClosed); len(at) != 3 || end != 0 {
			t.Errorf("three proxies, asked at %v: the answer took %v", at, end)
		}
		for _, s := range []pool.Signal{pool.HandshakeDenied, pool.HandshakeAuth, pool.HandshakeUnsupported, pool.DialRefused} {
			one, _ := newLoop(t, 1, limits)
			at, end, err := asked(one, t.Context(), s)
			var e *reply.Error
			if len(at) != 1 || end != 0 || !errors.As(err, &e) || e.Code != "attempts_spent" {
				t.Errorf("%v: the only one is asked at %v, and the answer after %v is %v", s, at, end, err)
			}
		}
	})
}

func TestAPauseEndsWithTheExchangeAndItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := limits
		s.Attempts, s.ExchangeTimeout = 100, 300*time.Millisecond
		loop, _ := newLoop(t, 1, s)
		if _, end, err := asked(loop, t.Context(), pool.HandshakeClosed); end > s.ExchangeTimeout || err == nil {
			t.Errorf("%v after %v", err, end)
		}
		ctx, leave := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer leave()
		if at, end, err := asked(loop, ctx, pool.HandshakeClosed); !errors.Is(err, ErrClientGone) || len(at) != 1 || end != 5*time.Millisecond {
			t.Errorf("a client that leaves: asked at %v, %v after %v", at, err, end)
		}
	})
}
