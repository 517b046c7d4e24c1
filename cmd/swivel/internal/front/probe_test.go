package front

import (
	"sync"
	"testing"
	"time"

	"swivel/breaker"
)

func TestProbeWhoseClientLeavesIsGivenBack(t *testing.T) {
	r := newRig(t)
	r.due()
	r.options.Breaker.ProbeSuccesses = 1
	p := r.proxy(silent)
	r.start(p.addr())
	c := r.dial()
	c.send(connectHead(target))
	eventually(t, "the probe is out", func() bool { n, _ := p.asked(); return n == 1 })
	_ = c.Close()
	r.logged(1)
	if s := r.snapshot(0); s.State != breaker.HalfOpen {
		t.Fatalf("a probe without a verdict left the proxy %v", s.State)
	}
	p.become(tunnels)
	eventually(t, "another probe is due", func() bool { return r.pool.RetryAfter(time.Now()) == 0 })
	r.reach()
	if s := r.snapshot(0); s.State != breaker.Closed {
		t.Errorf("after a good probe the proxy is %v", s.State)
	}
}

// TestEveryEndOfAProbeSettlesIt goes through all the ways an attempt can end.
func TestEveryEndOfAProbeSettlesIt(t *testing.T) {
	const anyRest = breaker.Open
	for name, test := range map[string]struct {
		script func(*peer)
		asks   bool
		state  breaker.State
	}{
		"closed port":       {nil, false, anyRest},
		"404":               {answers("HTTP/1.1 404 What\r\n\r\n"), false, anyRest},
		"403":               {answers("HTTP/1.1 403 No\r\n\r\n"), false, breaker.HalfOpen},
		"407":               {answers("HTTP/1.1 407 Auth\r\n\r\n"), false, anyRest},
		"429":               {answers("HTTP/1.1 429 Slow\r\n\r\n"), false, anyRest},
		"502":               {answers("HTTP/1.1 502 Bad\r\n\r\n"), false, anyRest},
		"target named":      {answers("HTTP/1.1 502 Bad\r\nProxy-Status: p; error=dns_error\r\n\r\n"), false, breaker.HalfOpen},
		"garbage":           {answers("what\r\n\r\n"), false, anyRest},
		"close":             {answers(""), false, anyRest},
		"silent":            {silent, false, anyRest},
		"200 and FIN":       {answers(ok200), true, anyRest},
		"200 and silence":   {func(c *peer) { c.head(); c.send(ok200); c.drain() }, true, anyRest},
		"200, never used":   {func(c *peer) { c.head(); c.send(ok200); c.drain() }, false, breaker.Closed},
		"200, closed idle":  {answers(ok200), false, breaker.HalfOpen},
		"200 and an answer": {tunnels, true, breaker.Closed},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.due()
			r.options.Breaker.ProbeSuccesses = 1
			r.timeouts.Handshake, r.attempts.FirstByte, r.attempts.Attempts = 50*time.Millisecond, 50*time.Millisecond, 1
			addr := ""
			if test.script == nil {
				addr = r.closedPort()
			} else {
				addr = r.proxy(test.script).addr()
			}
			r.start(addr)
			c := r.dial()
			c.send(connectHead(target))
			if resp, _ := c.reply(); resp.StatusCode == 200 && test.asks {
				c.send("?")
				eventually(t, "the verdict", func() bool { return r.snapshot(0).State != breaker.HalfOpen })
			}
			if name == "200, closed idle" {
				c.expectEnd()
			}
			_ = c.Close()
			r.logged(1)
			if s := r.snapshot(0); s.State != test.state {
				t.Errorf("%v, want %v (%s)", s.State, test.state, r.logged(1).signals())
			}
		})
	}
}

func TestProbeIsDecidedAtTheFirstByteNotAtTheEndOfTheTunnel(t *testing.T) {
	r := newRig(t)
	r.due()
	r.options.Breaker.ProbeSuccesses = 1
	r.start(r.proxy(tunnels).addr())
	c := r.connect(target)
	c.send("x")
	c.expect("x")
	if s := r.snapshot(0); s.State != breaker.Closed {
		t.Errorf("the tunnel carries bytes and the proxy is %v", s.State)
	}
}

func TestOnlyOneOfABurstIsAProbe(t *testing.T) {
	r := newRig(t)
	r.due()
	answer := make(chan struct{})
	slow, good := r.proxy(func(c *peer) {
		c.head()
		<-answer
		c.send(ok200)
		c.echo()
	}), r.proxy(tunnels)
	r.onlyFirst()
	r.start(slow.addr()+preferred, good.addr())
	var clients sync.WaitGroup
	for range 100 {
		clients.Go(func() {
			c := r.connect(target)
			c.send("x")
			c.expect("x")
		})
	}
	eventually(t, "99 were served elsewhere", func() bool { n, _ := good.asked(); return n == 99 })
	if n, _ := slow.asked(); n != 1 {
		t.Errorf("%d probes at once", n)
	}
	close(answer)
	clients.Wait()
}

func TestFailedProbeReopensForLonger(t *testing.T) {
	r := newRig(t)
	r.due()
	r.options.Breaker.Jitter = 0
	r.onlyFirst() // alone it would rest as long as before
	p := r.proxy(answers("what\r\n\r\n"))
	r.start(p.addr(), r.proxy(answers("what\r\n\r\n")).addr())
	for range 10 { // all but the first are told to come back later
		c := r.dial()
		c.send(connectHead(target))
		if resp, _ := c.reply(); resp.StatusCode == 200 {
			t.Fatal("garbage opened a tunnel")
		}
		_ = c.Close()
	}
	if n, _ := p.asked(); n != 1 {
		t.Errorf("the dead proxy was probed %d times", n)
	}
	if left := r.pool.Proxies()[0].Breaker().RetryAfter(time.Now()); left < 50*time.Second {
		t.Errorf("the second rest is %v, the first was 30s", left)
	}
}
