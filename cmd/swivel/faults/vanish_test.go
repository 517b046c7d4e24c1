package faults

import (
	"fmt"
	"net"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// vanishTest is a daemon between two networks: a proxy and clients at the far end
// of a wire, and another proxy beside it.
type vanishTest struct {
	wire   *wire
	daemon daemon
	far    client // at the other end of the wire
	near   client
}

func newVanishTest(t *testing.T, env ...string) *vanishTest {
	t.Helper()
	v := &vanishTest{wire: newWire(t)}
	far := newUpstreamIn(t, v.wire.far, v.wire.farAddr+":0", sound)
	near := newUpstreamIn(t, v.wire.near, "127.0.0.1:0", sound)
	v.daemon = startDaemon(t, swiveltest.Setup{
		Lines: []string{far.hostPort + " name=far weight=100", near.hostPort + " name=near"},
		Enter: v.wire.near.enter, Dial: v.wire.near.dial,
		Host: "0.0.0.0", // where clients at the far end reach it, too
		Env:  append(env, "SWIVEL_ALLOW_OPEN_PROXY=true"),
	})
	_, port, err := net.SplitHostPort(v.daemon.Listen)
	if err != nil {
		t.Fatal(err)
	}
	v.near = client{proxy: "127.0.0.1:" + port, in: v.wire.near}
	v.far = client{proxy: v.wire.nearAddr + ":" + port, in: v.wire.far}
	return v
}

// TestPeersVanish: a proxy and a client are gone without a FIN. New tunnels go
// another way in time, open ones end, and nothing is left of them.
func TestPeersVanish(t *testing.T) {
	t.Parallel()
	idle := either(3*time.Second, 20*time.Second)
	v := newVanishTest(t, "SWIVEL_LIMITS_TUNNEL_IDLE="+idle.String(), "SWIVEL_ATTEMPTS_DIAL_TIMEOUT=1s", "SWIVEL_ATTEMPTS_FIRST_BYTE_TIMEOUT=1s", "SWIVEL_ATTEMPTS_RESPONSE_TIMEOUT=1s")
	before := v.daemon.holds(t)
	var open []*tunnel
	for i := range 10 {
		c := []client{v.near, v.far}[i%2]
		c.user = "u+proxy=" + []string{"near", "far"}[i/2%2]
		u, _, err := c.open("t.test:443")
		if err == nil {
			err = u.echo(1000)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
		open = append(open, u)
	}
	kept := v.near
	kept.user = "u+proxy=far"
	if _, err := kept.get("t.test"); err != nil { // whose connection to the proxy is kept
		t.Fatal(err)
	}
	cut := time.Now()
	v.wire.cut.Store(true)
	if _, err := v.near.get("t.test"); err != nil {
		t.Errorf("a client was hurt by a kept connection: %v", err)
	}
	slowest := time.Duration(0)
	for n := range 20 {
		began := time.Now()
		if _, err := v.near.visit(fmt.Sprintf("t%d.test:443", n)); err != nil {
			t.Errorf("a client was hurt: %v", err)
		}
		slowest = max(slowest, time.Since(began))
	}
	if m := v.daemon.Members(t)["far"]; m.State != "open" {
		t.Errorf("the proxy that vanished is %s", m.State)
	}
	left := before
	left.goroutines += 20 // workers that are kept for later: ten tunnels end at once
	after := v.daemon.settles(t, 3*idle+10*time.Second, left)
	note(t, "cut off", "%d idle tunnels ended within %v (tunnel_idle is %v); new ones went elsewhere, the slowest in %v", len(open), time.Since(cut).Round(time.Second), idle, slowest.Round(time.Millisecond))
	note(t, "left behind", "before %v, after %v", before, after)
	v.wire.cut.Store(false)
	v.far.user = "u+proxy=near"
	if _, err := v.far.visit("t.test:443"); err != nil {
		t.Errorf("the wire is mended, and a client is told: %v", err)
	}
}

// TestClientsVanish: without any limit for tunnels it is the kernel's probes that
// find that a client is gone, within 80 seconds, if all that it was sent had
// arrived; else its retransmissions do, after a quarter of an hour. Too long for
// the short form.
func TestClientsVanish(t *testing.T) {
	if !*long {
		t.Skip("takes 80 seconds: make faults")
	}
	t.Parallel()
	v := newVanishTest(t, "SWIVEL_LIMITS_TUNNEL_IDLE=0")
	before := v.daemon.holds(t)
	v.far.user = "u+proxy=near"
	for range 10 {
		u, _, err := v.far.open("t.test:443")
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
	}
	pass(time.Second) // until everything is acknowledged
	v.wire.cut.Store(true)
	cut := time.Now()
	before.goroutines += 20 // workers that are kept for later
	v.daemon.settles(t, 100*time.Second, before)
	note(t, "without tunnel_idle", "10 tunnels of vanished clients ended after %v", time.Since(cut).Round(time.Second))
}

// TestLossAndDelay: the way to the proxies loses packets and is slow. That is
// no failure of theirs: everything arrives, and nobody is opened for it.
func TestLossAndDelay(t *testing.T) {
	t.Parallel()
	v := newVanishTest(t)
	v.wire.lossPercent.Store(3)
	v.wire.delay.Store(int64(25 * time.Millisecond))
	took := either(8*time.Second, time.Minute)
	v.near.user = "u+proxy=far"
	began := time.Now()
	l := startLoad(8, func(n, turn int) error {
		u, _, err := v.near.open(fmt.Sprintf("t%d.test:443", turn%50))
		if err != nil {
			return err
		}
		defer u.Close()
		for range 3 {
			if err := u.echo(64 + 20000*(n%2)); err != nil {
				return err
			}
		}
		return nil
	})
	pass(took)
	good := l.end(t, time.Now())
	if m := v.daemon.Members(t)["far"]; m.State != "closed" {
		t.Errorf("the proxy is %s", m.State)
	}
	if good == 0 || v.wire.dropped.Load() == 0 {
		t.Errorf("%d visits, %d packets lost: that shows nothing", good, v.wire.dropped.Load())
	}
	note(t, "3 % loss, 25 ms each way", "%d tunnels in %v over %d packets, %d lost: none failed", good, time.Since(began).Round(time.Second), v.wire.passed.Load(), v.wire.dropped.Load())
}
