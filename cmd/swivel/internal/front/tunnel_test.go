package front

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

const target = "example.test:443"

func TestBytesBehindTheProxysReplyAreNotLost(t *testing.T) {
	for _, size := range []int{len("SSH-2.0-x\r\n"), 4096, 64 << 10} {
		for _, by := range deliveries {
			if by == byteByByte && size > 4096 {
				continue
			}
			t.Run(fmt.Sprintf("%d %s", size, by), func(t *testing.T) {
				banner := strings.Repeat("SSH-2.0-x\r\n", size/11+1)[:size]
				r := newRig(t)
				p := r.proxyBy(by, func(c *peer) {
					c.head()
					c.send(ok200 + banner)
					c.drain()
				})
				r.start(p.addr())
				c := r.connect(target)
				c.expect(banner)
				_ = c.CloseWrite()
				c.expectEnd()
				if x := r.logged(1); x.signals() != "first_byte/success" || x.Down != int64(size) {
					t.Errorf("%s, %d bytes down", x.signals(), x.Down)
				}
			})
		}
	}
}

func TestBytesBehindTheHeadOfTheClientArriveOnce(t *testing.T) {
	for _, by := range deliveries {
		t.Run(string(by), func(t *testing.T) {
			r := newRig(t)
			p := r.proxyBy(by, func(c *peer) {
				c.head()
				c.send(ok200)
				c.send("got " + c.drain())
			})
			r.start(p.addr())
			c := r.dial()
			c.send(connectHead(target) + "HELLO")
			c.wants(200)
			c.send(" AGAIN")
			_ = c.CloseWrite()
			c.expect("got HELLO AGAIN")
			c.expectEnd()
			if x := r.logged(1); x.Up != int64(len("HELLO AGAIN")) {
				t.Errorf("%d bytes up", x.Up)
			}
		})
	}
}

func TestBytesSentRightAfterThe200AreNotLost(t *testing.T) {
	r := newRig(t)
	r.start(r.proxy(tunnels).addr())
	loops := 2000
	if testing.Short() {
		loops = 200
	}
	for i := range loops {
		c := r.connect(target)
		hello := fmt.Sprintf("hello %d", i)
		c.send(hello)
		c.expect(hello)
		_ = c.Close()
	}
}

func TestReplyToConnectHoldsNothingButItsHead(t *testing.T) {
	r := newRig(t)
	r.start(r.proxy(tunnels).addr())
	c := r.dial()
	c.send(connectHead(target))
	var head strings.Builder
	for !strings.HasSuffix(head.String(), "\r\n\r\n") {
		b, err := c.br.ReadByte()
		if err != nil {
			t.Fatal(err)
		}
		head.WriteByte(b)
	}
	want := "HTTP/1.1 200 Connection established\r\nX-Swivel-Proxy: " + string(r.pool.Proxies()[0].ID) + "\r\nX-Request-Id: "
	id, whole := strings.CutPrefix(head.String(), want)
	if m, target, known := r.pool.ServedBy(strings.TrimSpace(id)); !whole || len(id) != len("6d0761316442b0f9\r\n\r\n") || known {
		t.Errorf("%q, want %q and 16 digits; served by %v for %s before a byte came", head.String(), want, m, target)
	}
}

func TestOddBut2xxRepliesOfProxiesOpenTheTunnel(t *testing.T) {
	for _, reply := range []string{
		"HTTP/1.0 200 Connection established\r\nConnection: close\r\n\r\n",
		"HTTP/1.1 200 OK\r\nProxy-Agent: x\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200\r\n\r\n",
		"HTTP/1.1 201 Created\r\n\r\n",
		"HTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 299 Odd\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
	} {
		for _, by := range deliveries {
			t.Run(strings.Fields(reply)[1]+" "+string(by), func(t *testing.T) {
				r := newRig(t)
				p := r.proxyBy(by, func(c *peer) {
					c.head()
					c.send(reply)
					c.echo()
				})
				r.start(p.addr())
				c := r.connect(target)
				c.send("ping")
				c.expect("ping")
			})
		}
	}
}

func TestHeadOfTheClientMayComeInPieces(t *testing.T) {
	r := newRig(t)
	p := r.proxy(tunnels)
	r.start(p.addr())
	c := r.dial()
	for _, b := range connectHead(target) + "early" {
		c.send(string(b))
	}
	c.wants(200)
	c.expect("early")
	if _, head := p.asked(); head != askedHead(target) {
		t.Errorf("the proxy was asked %q", head)
	}
}

func TestNothingOfTheClientsHeadReachesTheProxy(t *testing.T) {
	r := newRig(t)
	p := r.proxy(tunnels)
	r.start("http://user1:s3cret@" + p.addr())
	c := r.dial()
	c.send("CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: other.test\r\nUser-Agent: curl\r\n" +
		"Proxy-Authorization: Basic bXk6b3du\r\nContent-Length: 4\r\nProxy-Connection: keep-alive\r\n\r\nABCD")
	c.wants(200)
	c.expect("ABCD") // a body of CONNECT is tunnel data, whatever the head says
	want := "CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:db8::1]:443\r\nProxy-Authorization: Basic dXNlcjE6czNjcmV0\r\nX-Swivel-Hops: 1\r\n\r\n"
	if _, head := p.asked(); head != want {
		t.Errorf("the proxy was asked %q", head)
	}
}

func TestOneConnectionToTheProxyPerTunnel(t *testing.T) {
	r := newRig(t)
	p := r.proxy(tunnels)
	r.start(p.addr())
	for range 300 {
		c := r.connect("127.0.0.1:8000") // clear text in a tunnel is as good as TLS
		c.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n")
		c.expect("GET / HTTP/1.1\r\n")
		_ = c.Close()
	}
	asked, _ := p.asked()
	if all, _ := p.accepted(); all != 300 || asked != 300 {
		t.Errorf("%d CONNECTs on %d connections", asked, all)
	}
}

func TestConnectBehindPlainRequestsKeepsItsEarlyBytes(t *testing.T) {
	r := newRig(t)
	p := r.proxy(func(c *peer) {
		for head := c.head(); head != ""; head = c.head() {
			if strings.HasPrefix(head, "CONNECT ") {
				c.send(ok200)
				c.echo()
				return
			}
			c.send("HTTP/1.1 200 OK\r\nDate: now\r\nServer: origin\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	r.start(p.addr())
	c := r.dial()
	get := "GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\n\r\n"
	c.send(get)
	c.skipResponse("ok")
	c.send(get + connectHead(target) + "EARLY") // pipelined, in one segment
	c.skipResponse("ok")
	c.wants(200)
	c.expect("EARLY")
	c.send("late")
	c.expect("late")
}

// skipResponse reads a plain response that ends with body.
func (c *testClient) skipResponse(body string) {
	c.t.Helper()
	line, err := c.br.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 200 ") {
		c.t.Fatalf("plain response: %q, %v", line, err)
	}
	for line != "\r\n" {
		if line, err = c.br.ReadString('\n'); err != nil {
			c.t.Fatal(err)
		}
	}
	c.expect(body)
}

func TestClientGetsAllThatFollowsItsOwnFIN(t *testing.T) {
	const size = 1 << 20
	r := newRig(t)
	p := r.proxy(func(c *peer) {
		c.head()
		c.send(ok200)
		if c.drain() == "X" {
			c.send(strings.Repeat("y", size))
		}
	})
	r.start(p.addr())
	c := r.connect(target)
	c.send("X")
	_ = c.CloseWrite()
	n, err := io.Copy(io.Discard, bufio.NewReader(c.br))
	if n != size || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestTunnelOutlivesTheTimeoutsOfItsOpening(t *testing.T) {
	r := newRig(t)
	r.timeouts.Dial, r.timeouts.Handshake = 50*time.Millisecond, 50*time.Millisecond
	r.attempts.ExchangeTimeout, r.attempts.FirstByte = 60*time.Millisecond, 50*time.Millisecond
	r.settings.HeaderTimeout = 60 * time.Millisecond
	more := make(chan struct{})
	p := r.proxy(func(c *peer) {
		c.head()
		c.send(ok200 + "a")
		<-more
		c.send("b")
		c.echo()
	})
	r.start(p.addr())
	c := r.connect(target)
	c.expect("a")
	time.AfterFunc(200*time.Millisecond, func() { close(more) })
	c.expect("b")
	c.send("c")
	c.expect("c")
}

func TestEndOfEitherSideReachesTheOther(t *testing.T) {
	t.Run("proxy closes", func(t *testing.T) {
		r := newRig(t)
		r.start(r.proxy(answers(ok200 + "bye")).addr())
		c := r.connect(target)
		c.expect("bye")
		c.expectEnd()
	})
	t.Run("proxy resets", func(t *testing.T) {
		r := newRig(t)
		r.start(r.proxy(func(c *peer) {
			c.head()
			c.send(ok200)
			c.take(1)
			c.reset()
		}).addr())
		c := r.connect(target)
		c.send("x")
		c.expectEnd()
	})
	t.Run("client resets", func(t *testing.T) {
		r := newRig(t)
		ended := make(chan struct{})
		r.start(r.proxy(func(c *peer) {
			c.head()
			c.send(ok200 + "x")
			c.drain()
			close(ended)
		}).addr())
		c := r.connect(target)
		c.expect("x")
		c.reset()
		<-ended
	})
}
