package front

import (
	"strings"
	"sync"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool"
)

// reach has the target reached once through whatever proxy the pool picks, so
// that later failures are not put down to the target.
func (r *rig) reach() {
	c := r.connect(target)
	c.send("x")
	c.expect("x")
	_ = c.Close()
}

func TestClientsThatLeaveDuringTheHandshakeHarmNobody(t *testing.T) {
	const clients = 200
	r := newRig(t)
	p := r.proxy(silent)
	r.start(p.addr())
	conns := make([]*testClient, clients)
	for i := range conns {
		conns[i] = r.dial()
		conns[i].send(connectHead(target))
	}
	eventually(t, "all are waiting", func() bool { n, _ := p.asked(); return n == clients })
	for i, c := range conns {
		if i%2 == 0 {
			c.reset()
		} else {
			_ = c.Close()
		}
	}
	began := time.Now()
	eventually(t, "the attempts are given up", func() bool { _, open := p.accepted(); return open == 0 })
	if took := time.Since(began); took > time.Second {
		t.Errorf("the attempts went on for %v", took)
	}
	r.logged(clients)
	for _, x := range r.exchanges() {
		if x.signals() != "client_gone/ignored" || x.Status != 499 {
			t.Fatalf("%d, %s", x.Status, x.signals())
		}
	}
	if !r.untouched(0) {
		t.Errorf("the proxy is blamed: %+v", r.snapshot(0))
	}
}

func TestClientsThatLeaveBeforeTheFirstByteHarmNobody(t *testing.T) {
	for name, leave := range map[string]func(*testClient){
		"FIN": func(c *testClient) { _ = c.Close() },
		"RST": func(c *testClient) { c.reset() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			asked := make(chan struct{}, 1)
			p := r.proxy(tunnels)
			r.start(p.addr())
			r.reach()
			r.logged(1)
			p.become(func(c *peer) {
				c.head()
				c.send(ok200)
				c.take(1)
				asked <- struct{}{}
				c.drain()
			})
			for range 20 {
				c := r.connect(target)
				c.send("?")
				<-asked
				leave(c)
			}
			r.logged(21)
			for _, x := range r.exchanges()[1:] {
				if x.signals() != "client_gone/ignored" {
					t.Fatalf("signals %s", x.signals())
				}
			}
			if !r.untouched(0) {
				t.Errorf("the proxy is blamed: %+v", r.snapshot(0))
			}
		})
	}
}

func TestSlowQuestionIsNotASlowAnswer(t *testing.T) {
	r := newRig(t)
	r.attempts.FirstByte = time.Second
	p := r.proxy(func(c *peer) {
		c.head()
		c.send(ok200)
		c.take(1)
		time.Sleep(600 * time.Millisecond)
		c.send("!")
		c.drain()
	})
	r.start(p.addr())
	c := r.connect(target)
	time.Sleep(600 * time.Millisecond) // most of the time for the answer, as counted from the 200
	c.send("?")
	c.expect("!")
	_ = c.Close()
	if x := r.logged(1); x.signals() != "first_byte/success" {
		t.Errorf("signals %s", x.signals())
	}
}

func TestTargetThatIsDownIsNotHeldAgainstTheProxies(t *testing.T) {
	r := newRig(t)
	var lines []string
	for range 3 {
		lines = append(lines, r.proxy(answers("HTTP/1.1 503 Unavailable\r\n\r\n")).addr())
	}
	r.start(lines...)
	for range 50 {
		c := r.dial()
		c.send(connectHead(target))
		c.wants(502)
		_ = c.Close()
	}
	for i := range lines {
		if !r.untouched(i) {
			t.Errorf("proxy %d is blamed: %+v", i, r.snapshot(i))
		}
	}
}

func TestTwoRepliesThatNameTheTargetEndTheExchange(t *testing.T) {
	r := newRig(t)
	var lines []string
	for range 4 {
		lines = append(lines, r.proxy(answers("HTTP/1.1 502 Bad\r\nProxy-Status: up; error=destination_ip_unroutable\r\n\r\n")).addr())
	}
	r.start(lines...)
	c := r.dial()
	c.send(connectHead(target))
	resp, body := c.reply()
	checkRefusal(t, resp, body, "target_down")
	if x := r.logged(1); len(x.Attempts) != 2 {
		t.Errorf("%d attempts", len(x.Attempts))
	}
}

func TestBlackHoleOpensAndIsThenLeftAlone(t *testing.T) {
	r := newRig(t)
	r.timeouts.Handshake = 30 * time.Millisecond
	hole, good := r.proxy(silent), r.proxy(tunnels)
	r.start(hole.addr()+preferred, good.addr())
	for range 10 {
		r.reach()
	}
	if n, _ := hole.asked(); n != 3 || r.snapshot(0).State != breaker.Open {
		t.Errorf("asked %d times, %v", n, r.snapshot(0).State)
	}
}

func TestTwoUsersOfOneProxyAreJudgedApart(t *testing.T) {
	r := newRig(t)
	p := r.proxy(func(c *peer) {
		head := c.head()
		if strings.Contains(head, "\r\nProxy-Authorization: Basic dTE6cA==\r\n") {
			c.send("HTTP/1.1 407 Auth\r\n\r\n")
			return
		}
		c.send(ok200)
		c.echo()
	})
	r.start("http://u1:p@"+p.addr()+preferred, "http://u2:p@"+p.addr())
	r.reach()
	if r.snapshot(0).State != breaker.Open || !r.untouched(1) {
		t.Errorf("u1 is %v, u2 %+v", r.snapshot(0).State, r.snapshot(1))
	}
}

// TestShutdownIsHeldAgainstNobody, and whoever has no answer yet is told why there
// will be none.
func TestShutdownIsHeldAgainstNobody(t *testing.T) {
	r := newRig(t)
	p := r.proxy(silent)
	r.start(p.addr())
	var clients sync.WaitGroup
	for i := range 10 {
		c := r.dial()
		c.send([]string{connectHead(target), "GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\n\r\n"}[i%2])
		clients.Go(func() {
			if resp, _ := c.reply(); resp.StatusCode != 503 || resp.Header.Get("X-Swivel-Error") != "over_capacity" || resp.Header.Get("Retry-After") != "1" {
				t.Errorf("%s %v", resp.Status, resp.Header)
			}
			c.expectEnd()
		})
	}
	eventually(t, "all are waiting", func() bool { n, _ := p.asked(); return n == 10 })
	r.shutdown(0)
	clients.Wait()
	if !r.untouched(0) {
		t.Errorf("the proxy is blamed: %+v", r.snapshot(0))
	}
	r.logged(10)
	for _, line := range r.exchanges() {
		if line.Status != 503 || line.Code != "over_capacity" || line.signals() != "local_fault/ignored" {
			t.Errorf("the log has %d %s, %s", line.Status, line.Code, line.signals())
		}
	}
}

// TestTunnelCutByTheEndOfGraceIsNotSaidToHaveLostItsClient had its client wait for
// the first byte until the process ended.
func TestTunnelCutByTheEndOfGraceIsNotSaidToHaveLostItsClient(t *testing.T) {
	r := newRig(t)
	asked := make(chan struct{})
	r.start(r.proxy(func(c *peer) {
		c.head()
		c.send(ok200)
		c.take(1)
		close(asked)
		c.drain()
	}).addr())
	c := r.connect(target)
	c.send("?")
	<-asked
	if cut := r.shutdown(0); cut != 1 {
		t.Errorf("%d connections were cut", cut)
	}
	if line := r.logged(1); line.signals() != "local_fault/ignored" || line.Attempts[0].Error != "swivel is being stopped" {
		t.Errorf("the log has %+v", line)
	}
	if counts := r.pool.Settled(); counts[pool.LocalFault][breaker.Ignored] != 1 || counts[pool.ClientGone][breaker.Ignored] != 0 {
		t.Error("it is counted as another signal")
	}
}
