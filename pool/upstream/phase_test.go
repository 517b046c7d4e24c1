package upstream

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"swivel/pool"
)

// phaseOver begins a phase of 10 s on a pipe whose other end stays silent.
func phaseOver(t *testing.T, ctx context.Context) (*phase, net.Conn) {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { _, _ = here.Close(), there.Close() })
	return beginPhase(ctx, here, 10*time.Second), there
}

// readOut reads into the phase's end and says what it means.
func readOut(ph *phase) pool.Signal {
	defer ph.hook.Stop()
	_, err := ph.conn.Read(make([]byte, 1))
	return ph.fail(err, pool.HandshakeTimeout, pool.HandshakeClosed).Signal
}

// TestWhoEndedThePhase: the phase's own deadline is held against the proxy,
// whatever ends the caller's context is not.
func TestWhoEndedThePhase(t *testing.T) {
	cause := errors.New("overtaken")
	for _, c := range []struct {
		name   string
		derive func(context.Context) (context.Context, context.CancelFunc)
		want   pool.Signal
	}{
		{"nobody else", context.WithCancel, pool.HandshakeTimeout},
		{"caller cancels", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, pool.ClientGone},
		{"caller cancels with a cause", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(cause) })
			return ctx, func() { cancel(nil) }
		}, pool.ClientGone},
		{"caller's deadline comes first", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, pool.ClientGone},
		{"caller's deadline with a cause", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, time.Second, cause)
		}, pool.ClientGone},
		{"caller's deadline comes later", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 11*time.Second)
		}, pool.HandshakeTimeout},
		{"both at once", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 10*time.Second)
		}, pool.HandshakeTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := c.derive(t.Context())
				defer cancel()
				ph, _ := phaseOver(t, ctx)
				if got := readOut(ph); got != c.want {
					t.Errorf("got %v, want %v", got, c.want)
				}
			})
		})
	}
}

// TestNoDeadlineIsLeftBehind: a tunnel must outlive both the phase and the
// context that it was opened under.
func TestNoDeadlineIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		ph, there := phaseOver(t, ctx)
		if err := ph.end(); err != nil {
			t.Fatal(err)
		}
		cancel()
		time.AfterFunc(time.Hour, func() { _, _ = there.Write([]byte("x")) })
		if n, err := ph.conn.Read(make([]byte, 1)); n != 1 {
			t.Error(err)
		}
	})
}

func TestEndAfterTheContextGivesNoConnection(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ph, _ := phaseOver(t, ctx)
	cancel()
	if err := ph.end(); SignalOf(err) != pool.ClientGone {
		t.Errorf("got %v", err)
	}
}

func TestContextThatHadEndedBefore(t *testing.T) {
	spent, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	left, leave := context.WithCancelCause(t.Context())
	leave(context.DeadlineExceeded) // a cause says nothing
	for ctx, want := range map[context.Context]pool.Signal{spent: pool.LocalFault, left: pool.ClientGone} {
		if _, err := patient().Tunnel(ctx, &pool.Spec{Host: "127.0.0.1", Port: 1}, "a.test:80", 0); SignalOf(err) != want {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}
