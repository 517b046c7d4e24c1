package front

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"swivel/breaker"
)

// finWhenAsked opens the tunnel and hangs up in order on what it is asked.
func finWhenAsked(c *peer) {
	c.head()
	c.send(ok200)
	_, _ = c.br.Peek(1)
	_, _ = io.CopyN(io.Discard, c.br, int64(c.br.Buffered()))
}

func rstWhenAsked(c *peer) {
	c.head()
	c.send(ok200)
	c.take(1)
	c.reset()
}

// mute opens the tunnel and says nothing.
func mute(c *peer) {
	c.head()
	c.send(ok200)
	c.drain()
}

// asks opens a tunnel and sends the question right behind the request, so that the
// time for its answer runs from the start.
func (r *rig) asks(question string) *testClient {
	r.t.Helper()
	c := r.dial()
	c.send(connectHead(target) + question)
	c.wants(200)
	return c
}

func TestNoTLSClientNoticesProxiesThatHangUpBehindTheir200(t *testing.T) {
	r := newRig(t)
	good := tlsTarget(t)
	r.start(r.proxy(answers(ok200)).addr(), r.proxy(finWhenAsked).addr(), r.proxy(rstWhenAsked).addr(),
		r.proxy(good).addr(), r.proxy(good).addr(), r.proxy(good).addr())
	for i := range 60 {
		c := r.connect(target)
		if err := c.asksOverTLS(); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		_ = c.Close()
	}
	for i := range 3 {
		if s := r.snapshot(i); s.State != breaker.Open && len(s.Failures) == 0 {
			t.Errorf("nothing is held against the bad proxy %d: %+v", i, s)
		}
		if !r.untouched(3 + i) {
			t.Errorf("the good proxy %d is blamed: %+v", i, r.snapshot(3+i))
		}
	}
}

func TestTunnelMovesBeforeItsFirstByte(t *testing.T) {
	for name, script := range map[string]func(*peer){
		"FIN with the 200": answers(ok200), "FIN when asked": finWhenAsked, "RST when asked": rstWhenAsked,
	} {
		for _, early := range []bool{false, true} {
			if early {
				name += ", asked early"
			}
			t.Run(name, func(t *testing.T) {
				r := newRig(t)
				bad, good := r.proxy(script), r.proxy(tunnels)
				r.start(bad.addr()+preferred, good.addr())
				hello := clientHello(t, "example.test")
				c := r.dial()
				if early {
					c.send(connectHead(target) + hello)
				} else {
					c.send(connectHead(target))
				}
				if id := c.wants(200).Header.Get("X-Swivel-Proxy"); id != string(r.pool.Proxies()[0].ID) {
					t.Errorf("the 200 names %s", id)
				}
				if !early {
					c.send(hello)
				}
				c.expect(hello) // echoed
				c.send("and so on")
				c.expect("and so on")
				_ = c.CloseWrite()
				c.expectEnd()
				x := r.logged(1)
				if got := x.signals(); got != "tunnel_closed/failure first_byte/success" {
					t.Errorf("signals %s", got)
				}
				if want := int64(len(hello) + len("and so on")); x.Up != want || x.Down != want || x.Proxy != string(r.pool.Proxies()[1].ID) {
					t.Errorf("logged %d bytes up and %d down by %s, want %d", x.Up, x.Down, x.Proxy, want)
				}
			})
		}
	}
}

func TestClientHelloInPiecesIsPassedOnAtOnceAndMovesWhole(t *testing.T) {
	hello := clientHello(t, "example.test")
	for _, cut := range []int{1, 4, 5, 9, 60, len(hello) - 1} {
		r := newRig(t)
		arrived := make(chan struct{})
		bad := r.proxy(func(c *peer) {
			c.head()
			c.send(ok200)
			c.take(cut)
			close(arrived)
		})
		r.start(bad.addr()+preferred, r.proxy(tunnels).addr())
		c := r.connect(target)
		c.send(hello[:cut])
		<-arrived
		c.expect(hello[:cut])
		c.send(hello[cut:])
		c.expect(hello[cut:])
		_ = c.Close()
	}
}

func TestWhatMayNotBeSentTwiceIsNotMoved(t *testing.T) {
	hello := clientHello(t, "example.test")
	for name, test := range map[string]struct {
		text   string
		closes bool
	}{
		"clear text":               {text: "GET / HTTP/1.1\r\nHost: example.test\r\n\r\n"},
		"early data announced":     {text: withExtension(hello, extEarlyData, "")},
		"data behind the hello":    {text: hello + "\x17\x03\x03\x00\x01x"},
		"half a record behind":     {text: hello + "\x17"},
		"a hello that is too long": {text: withExtension(hello, extPadding, strings.Repeat("\x00", 16<<10-len(hello)-8)) + "x"},
		"client has closed":        {hello, true},
	} {
		for end, ends := range map[string]func(*peer){"FIN": func(*peer) {}, "RST": (*peer).reset} {
			t.Run(name+", "+end, func(t *testing.T) {
				r := newRig(t)
				bad, other := r.proxy(func(c *peer) {
					c.head()
					c.send(ok200)
					c.take(len(test.text))
					if test.closes {
						c.drain()
					}
					ends(c)
				}), r.proxy(tunnels)
				r.start(bad.addr()+preferred, other.addr())
				c := r.connect(target)
				c.send(test.text)
				if test.closes {
					_ = c.CloseWrite()
				}
				c.expectEnd()
				_ = c.Close()
				if got := r.logged(1).signals(); strings.Contains(got, " ") {
					t.Errorf("signals %s", got)
				}
				if all, _ := other.accepted(); all != 0 {
					t.Errorf("another proxy was asked %d times", all)
				}
			})
		}
	}
}

func TestTunnelOfASessionStaysWithItsProxy(t *testing.T) {
	r := newRig(t)
	bad, other := r.proxy(finWhenAsked), r.proxy(tunnels)
	r.start(bad.addr()+preferred, other.addr())
	c := r.dial()
	c.send(strings.Replace(connectHead(target), "\r\n\r\n", "\r\nX-Swivel-Session: mine\r\n\r\n", 1))
	c.wants(200)
	c.send(clientHello(t, "example.test"))
	c.expectEnd()
	_ = c.Close()
	if got := r.logged(1).signals(); got != "tunnel_closed/ignored" {
		t.Errorf("signals %s", got)
	}
	if all, _ := other.accepted(); all != 0 {
		t.Errorf("another proxy was asked %d times", all)
	}
}

func TestTunnelThatMovesLeavesItsPlace(t *testing.T) {
	r := newRig(t)
	r.start(r.proxy(finWhenAsked).addr()+preferred, r.proxy(tunnels).addr())
	hello := clientHello(t, "example.test")
	c := r.connect(target)
	c.send(hello)
	c.expect(hello)
	in := func(n int) int { return r.pool.Proxies()[n].InFlight() }
	if in(0) != 0 || in(1) != 1 {
		t.Errorf("%d and %d are in flight", in(0), in(1))
	}
	_ = c.Close()
	r.logged(1)
	if in(1) != 0 {
		t.Errorf("%d are in flight behind the end", in(1))
	}
}

// TestTunnelMovesBetweenTLSAndTCP has a proxy that is read from through TLS.
func TestTunnelMovesBetweenTLSAndTCP(t *testing.T) {
	for name, leave := range map[string]func(*tls.Conn){
		"close_notify": func(c *tls.Conn) { _ = c.CloseWrite() },
		"FIN alone":    func(c *tls.Conn) { _ = c.NetConn().(*net.TCPConn).CloseWrite() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			echoes := overTLS(t, func(conn *tls.Conn) {
				_, _ = io.WriteString(conn, ok200)
				_, _ = io.Copy(struct{ io.Writer }{conn}, struct{ io.Reader }{conn})
			})
			bad := r.proxy(overTLS(t, func(conn *tls.Conn) {
				_, _ = io.WriteString(conn, ok200)
				_, _ = conn.Read(make([]byte, 4<<10))
				leave(conn)
				_, _ = io.Copy(io.Discard, conn)
			}))
			r.start("https://"+bad.addr()+" insecure=true"+preferred, "https://"+r.proxy(echoes).addr()+" insecure=true weight=1000",
				r.proxy(tunnels).addr())
			hello := clientHello(t, "example.test")
			for range 2 { // the second time by whoever is left
				c := r.connect(target)
				c.send(hello)
				c.expect(hello)
				c.send("more")
				c.expect("more")
				_ = c.Close()
			}
		})
	}
}

func TestNothingMovesOnceAByteHasCome(t *testing.T) {
	r := newRig(t)
	hello := clientHello(t, "example.test")
	bad, other := r.proxy(func(c *peer) {
		c.head()
		c.send(ok200)
		c.take(len(hello))
		c.send("\x16")
		c.reset()
	}), r.proxy(tunnels)
	r.start(bad.addr()+preferred, other.addr())
	c := r.connect(target)
	c.send(hello)
	_, _ = io.Copy(io.Discard, c.br)
	_ = c.Close()
	if got := r.logged(1).signals(); got != "first_byte/success" {
		t.Errorf("signals %s", got)
	}
	if all, _ := other.accepted(); all != 0 {
		t.Errorf("another proxy was asked %d times", all)
	}
}

func TestSilentTunnelMovesWhenItsTimeIsUp(t *testing.T) {
	r := newRig(t)
	r.attempts.FirstByte = 100 * time.Millisecond
	hole := r.proxy(mute)
	r.start(hole.addr()+preferred, r.proxy(tunnels).addr())
	hello := clientHello(t, "example.test")
	c := r.asks(hello)
	c.expect(hello)
	eventually(t, "the silent one is left", func() bool { _, open := hole.accepted(); return open == 0 })
	_ = c.Close()
	if got := r.logged(1).signals(); got != "tunnel_silent/failure first_byte/success" {
		t.Errorf("signals %s", got)
	}
}

func TestSilentTunnelStaysWhenNobodyElseServes(t *testing.T) {
	r := newRig(t)
	r.attempts.FirstByte = 50 * time.Millisecond
	answer := make(chan struct{})
	proceed := sync.OnceFunc(func() { close(answer) })
	defer proceed()
	slow := r.proxy(func(c *peer) {
		c.head()
		c.send(ok200)
		<-answer
		c.echo()
	})
	r.start(slow.addr()+preferred, r.proxy(answers("SSH-2.0-x\r\n")).addr())
	hello := clientHello(t, "example.test")
	c := r.asks(hello)
	eventually(t, "the other one was tried", func() bool { return len(r.snapshot(1).Failures) == 1 })
	proceed()
	c.expect(hello)
	c.send("more")
	c.expect("more")
}

func TestSilenceOfTheOnlyProxyIsWaitedFor(t *testing.T) {
	r := newRig(t)
	r.attempts.FirstByte = 20 * time.Millisecond
	proceed := make(chan struct{})
	slow := r.proxy(func(c *peer) {
		c.head()
		c.send(ok200)
		<-proceed
		c.echo()
	})
	r.start(slow.addr())
	hello := clientHello(t, "example.test")
	c := r.asks(hello)
	time.AfterFunc(200*time.Millisecond, func() { close(proceed) })
	c.expect(hello)
	if all, _ := slow.accepted(); all != 1 {
		t.Errorf("%d connections", all)
	}
}

func TestSilentProxyThatAnswersAfterAllServes(t *testing.T) {
	r := newRig(t)
	r.attempts.FirstByte = 50 * time.Millisecond
	hello := clientHello(t, "example.test")
	asked, opened := make(chan struct{}), make(chan struct{})
	slow := r.proxy(func(c *peer) {
		c.head()
		c.send(ok200)
		c.take(len(hello))
		<-asked
		c.send("late")
		c.echo()
	})
	other := r.proxy(func(c *peer) {
		c.head()
		close(asked)
		<-opened
		c.send(ok200)
		if got := c.drain(); got != "" {
			t.Errorf("the other one was sent %q", got)
		}
	})
	r.start(slow.addr()+preferred, other.addr())
	c := r.asks(hello)
	c.expect("late")
	close(opened)
	c.send("more")
	c.expect("more")
	eventually(t, "the other one is left", func() bool { _, open := other.accepted(); return open == 0 })
}

func TestTunnelEndsWhenAllProxiesHangUp(t *testing.T) {
	r := newRig(t)
	var lines []string
	for range 8 {
		lines = append(lines, r.proxy(finWhenAsked).addr())
	}
	r.start(lines...)
	c := r.connect(target)
	c.send(clientHello(t, "example.test"))
	c.expectEnd()
	_ = c.Close()
	if got := r.logged(1).Attempts; len(got) != r.attempts.Attempts {
		t.Errorf("%d attempts", len(got))
	}
}

// TestMoveEndsWithItsTunnel ends the tunnel while another proxy is asked for it.
func TestMoveEndsWithItsTunnel(t *testing.T) {
	for name, end := range map[string]func(*rig, *testClient){
		"client closes":      func(_ *rig, c *testClient) { _ = c.Close() },
		"client resets":      func(_ *rig, c *testClient) { c.reset() },
		"client half-closes": func(_ *rig, c *testClient) { _ = c.CloseWrite() },
		"client sends more":  func(_ *rig, c *testClient) { c.send("what?") },
		"shutdown":           func(r *rig, _ *testClient) { r.shutdown(0) },
		"idle":               func(r *rig, _ *testClient) { r.sweep() },
	} {
		for how, script := range map[string]func(*peer){"closed": finWhenAsked, "silent": mute} {
			t.Run(name+", "+how, func(t *testing.T) {
				r := newRig(t)
				r.attempts.FirstByte = 50 * time.Millisecond
				r.idle = 100 * time.Millisecond
				other := r.proxy(silent)
				r.start(r.proxy(script).addr()+preferred, other.addr())
				c := r.asks(clientHello(t, "example.test"))
				eventually(t, "the other one is asked", func() bool { n, _ := other.asked(); return n == 1 })
				end(r, c)
				eventually(t, "the other one is left", func() bool { _, open := other.accepted(); return open == 0 })
				if how == "closed" && name != "client closes" && name != "client resets" {
					c.expectEnd()
				}
				_ = c.Close()
				ended := " client_gone/ignored"
				if name == "shutdown" {
					ended = " local_fault/ignored"
				}
				if got := r.logged(1).signals(); !strings.HasPrefix(got, "tunnel_"+how+"/") || !strings.HasSuffix(got, ended) {
					t.Errorf("signals %s", got)
				}
			})
		}
	}
}

// TestMoveAgainstAllThatMayHappenMeanwhile is for the race detector.
func TestMoveAgainstAllThatMayHappenMeanwhile(t *testing.T) {
	r := newRig(t)
	r.attempts.FirstByte = time.Millisecond
	r.idle = 20 * time.Millisecond
	r.start(r.proxy(finWhenAsked).addr(), r.proxy(rstWhenAsked).addr(), r.proxy(mute).addr(), r.proxy(tunnels).addr(), r.proxy(tunnels).addr())
	r.sweep()
	hello := clientHello(t, "example.test")
	done := make(chan struct{})
	const clients = 200
	for i := range clients {
		go func() {
			defer func() { done <- struct{}{} }()
			conn, err := net.Dial("tcp", r.addr)
			if err != nil {
				return
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(patience))
			_, _ = io.WriteString(conn, connectHead(target)+hello[:i])
			time.Sleep(time.Duration(i%7) * 500 * time.Microsecond)
			_, _ = io.WriteString(conn, hello[i:])
			switch i % 5 {
			case 0:
				return
			case 1:
				_ = conn.(*net.TCPConn).CloseWrite()
			case 2:
				_, _ = io.WriteString(conn, "more")
			}
			_, _ = io.Copy(io.Discard, conn)
		}()
	}
	for range clients {
		<-done
	}
}
