package tunnel

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"swivel/pool/upstream/leaktest"
)

func TestIdleTunnelIsEndedByTheSweep(t *testing.T) {
	r := NewRegistry(20*time.Millisecond, nil)
	b := startRelay(t, r)
	eventually(t, "the sweep ends it", func() bool { r.sweep(time.Now().Add(time.Hour)); return r.Len() == 0 })
	b.ended()
	if got := b.seen.String(); got != "ended" {
		t.Errorf("%q: the end was nobody's but our own", got)
	}
	for _, c := range []io.Reader{b.client, b.proxy} {
		if _, err := c.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("a peer finds %v", err)
		}
	}
}

func TestTunnelWithTrafficInOneDirectionIsNotIdle(t *testing.T) {
	const limit = 300 * time.Millisecond
	r := NewRegistry(limit, nil)
	b := startRelay(t, r)
	for end := time.Now().Add(3 * limit); time.Now().Before(end); {
		began := time.Now()
		send(t, b.proxy, "x")
		expect(t, b.client, "x")
		if time.Since(began) < limit/2 { // else the machine is so busy that the tunnel was idle indeed
			r.sweep(time.Now())
		}
	}
	if r.Len() != 1 {
		t.Error("a busy tunnel was ended")
	}
	reset(b.client)
	b.ended()
}

func TestOldTunnelIsEndedHoweverBusyItIs(t *testing.T) {
	for name, idle := range map[string]time.Duration{"no idle limit": 0, "long idle limit": 48 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			r := NewRegistry(idle, nil)
			r.MaxAge = 24 * time.Hour
			b := startRelay(t, r)
			began := time.Now()
			for _, age := range []time.Duration{0, time.Hour, 23 * time.Hour} { // looks that must not put the next one off
				send(t, b.proxy, "x")
				expect(t, b.client, "x")
				if r.sweep(began.Add(age)); r.Len() != 1 {
					t.Fatalf("ended at the age of %v", age)
				}
			}
			r.sweep(began.Add(24*time.Hour + time.Second))
			b.ended()
			if r.Len() != 0 {
				t.Error("it is still there")
			}
		})
	}
}

func TestTunnelIsNotLookedAtBeforeItCanBeIdle(t *testing.T) {
	r := NewRegistry(time.Hour, nil)
	b := startRelay(t, r)
	now := time.Now()
	r.sweep(now)
	r.mu.Lock()
	for p := range r.open {
		if wait := p.nextLook.Sub(now); wait < 59*time.Minute || wait > time.Hour {
			t.Errorf("the next look is in %v", wait)
		}
	}
	r.mu.Unlock()
	r.sweep(now.Add(2 * time.Hour)) // what the kernel says counts, not the sweep's clock
	if r.Len() != 1 {
		t.Error("a tunnel was ended that had not been idle")
	}
	reset(b.client)
	b.ended()
}

func TestTunnelWithOneSideGoneIsDrainedForALimitedTime(t *testing.T) {
	for name, idle := range map[string]time.Duration{"no idle limit": 0, "long idle limit": time.Hour} {
		t.Run(name, func(t *testing.T) {
			r := NewRegistry(idle, nil)
			if r.drain != drainLimit {
				t.Errorf("drain limit %v", r.drain)
			}
			r.drain = 20 * time.Millisecond
			b := startRelay(t, r)
			other := startOther(t, r)
			_ = b.client.CloseWrite()
			eventually(t, "the half-closed tunnel is ended", func() bool { r.sweep(time.Now()); return r.Len() == 1 })
			b.ended()
			other()
		})
	}
}

// startOther relays between two more connections, of which nobody has closed.
func startOther(t *testing.T, r *Registry) (end func()) {
	client, inClient := tcpPair(t)
	inPeer, _ := tcpPair(t)
	done := make(chan struct{})
	go func() { r.Relay(inClient, inPeer, Unobserved{}); close(done) }()
	eventually(t, "the other relay runs", func() bool { return r.Len() == 2 })
	return func() { reset(client); <-done }
}

func TestDrainIsNoLongerThanTheIdleLimit(t *testing.T) {
	if r := NewRegistry(time.Second, nil); r.drain != time.Second {
		t.Errorf("drain limit %v", r.drain)
	}
}

func TestSweepEndsWithItsContext(t *testing.T) {
	leaktest.Watch(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	NewRegistry(1, nil).Sweep(ctx)
}

func TestATunnelThatLastsIsProbedForAVanishedProxy(t *testing.T) {
	for _, idle := range []time.Duration{0, time.Hour} {
		r := NewRegistry(idle, nil)
		b := startRelay(t, r)
		_ = b.inPeer.SetKeepAlive(false) // as the dialer leaves it
		if probed(t, b.inPeer) {
			t.Fatal("it is probed from the start: the test shows nothing")
		}
		r.sweep(time.Now())
		if !probed(t, b.inPeer) {
			t.Errorf("limit %v: a proxy that vanishes holds it for ever", idle)
		}
		reset(b.client)
		b.ended()
	}
}

// probed says whether the kernel probes the peer of a silent connection.
func probed(t *testing.T, c *net.TCPConn) (on bool) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		n, e := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_KEEPALIVE)
		on = e == nil && n != 0
	}); err != nil {
		t.Fatal(err)
	}
	return on
}
