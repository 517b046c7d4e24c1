package front

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"swivel/breaker"
)

// preferred makes the first line of a pool all but sure to be tried first.
const preferred = " weight=1000000000"

func TestNextProxyServesWhenTheFirstFails(t *testing.T) {
	for _, test := range []struct {
		name   string
		script func(*peer)
		signal string
		state  breaker.State
		fails  int
	}{
		{"407", answers("HTTP/1.1 407 Auth\r\nProxy-Authenticate: Basic\r\n\r\n"), "handshake_auth/refused", breaker.Open, 0},
		{"502", answers("HTTP/1.1 502 Bad\r\n\r\n"), "handshake_gateway/failure", breaker.Closed, 1},
		{"half a head", answers("HTTP/1.1 200 OK\r\nX-A: "), "handshake_closed/failure", breaker.Closed, 1},
		{"silent", silent, "handshake_timeout/failure", breaker.Closed, 1},
	} {
		for _, by := range deliveries {
			t.Run(test.name+" "+string(by), func(t *testing.T) {
				r := newRig(t)
				r.timeouts.Handshake = 100 * time.Millisecond
				bad, good := r.proxyBy(by, test.script), r.proxyBy(by, tunnels)
				r.start(bad.addr()+preferred, good.addr())
				c := r.dial()
				c.send(connectHead(target) + "early") // goes to whoever wins, once
				c.wants(200)
				c.expect("early")
				c.send("late")
				c.expect("late")
				_ = c.Close()
				if got := r.logged(1).signals(); got != test.signal+" first_byte/success" {
					t.Errorf("signals %s", got)
				}
				if s := r.snapshot(0); s.State != test.state || len(s.Failures) != test.fails {
					t.Errorf("the failed proxy is %v with %d failures", s.State, len(s.Failures))
				}
				if !r.untouched(1) {
					t.Error("something is held against the proxy that served")
				}
			})
		}
	}
}

func TestEarlyBytesGoToTheWinnerOfAHedgeAlone(t *testing.T) {
	r := newRig(t)
	r.attempts.HedgeOff, r.attempts.HedgeAfter = false, 20*time.Millisecond
	served, sent := make(chan struct{}), make(chan string, 1)
	slow := r.proxy(func(c *peer) {
		c.head()
		<-served
		c.send(ok200)
		sent <- c.drain()
	})
	r.start(slow.addr()+preferred, r.proxy(tunnels).addr())
	c := r.dial()
	c.send(connectHead(target) + "early")
	c.wants(200)
	c.expect("early")
	close(served)
	if got := <-sent; got != "" {
		t.Errorf("the one that was overtaken was sent %q", got)
	}
	c.send("late")
	c.expect("late")
	_ = c.Close()
	eventually(t, "both have their verdict", func() bool { _, open := slow.accepted(); return open == 0 })
	if !r.untouched(0) || !r.untouched(1) {
		t.Errorf("somebody is blamed: %+v, %+v", r.snapshot(0), r.snapshot(1))
	}
}

func TestStallsOfEveryProtocolEndAtTheHandshakeTimeout(t *testing.T) {
	stall := func(c *peer) { c.drain() }
	for name, test := range map[string]struct {
		scheme string
		script func(*peer)
	}{
		"http":                   {"http://", stall},
		"https, no TLS":          {"https://", stall},
		"socks4":                 {"socks4://", stall},
		"socks5":                 {"socks5://", stall},
		"socks5, after greeting": {"socks5://", func(c *peer) { c.take(3); c.send("\x05\x00"); c.drain() }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.timeouts.Handshake = 50 * time.Millisecond
			stalls, good := r.proxy(test.script), r.proxy(tunnels)
			r.start(test.scheme+stalls.addr()+preferred, good.addr())
			c := r.connect(target)
			c.send("x")
			c.expect("x")
			if s := r.snapshot(0); len(s.Failures) != 1 {
				t.Errorf("%d failures are held against the one that stalled", len(s.Failures))
			}
		})
	}
}

func TestEveryDeadProxyIsTriedOnceAndNoMoreThanAllowed(t *testing.T) {
	r := newRig(t)
	r.attempts.Attempts = 4
	var proxies []*fakeProxy
	var lines []string
	for range 6 {
		p := r.proxy(answers("HTTP/1.1 500 Broken\r\n\r\n"))
		proxies, lines = append(proxies, p), append(lines, p.addr())
	}
	r.start(lines...)
	c := r.dial()
	c.send(connectHead(target))
	c.wants(502)
	total := 0
	for i, p := range proxies {
		n, _ := p.asked()
		if total += n; n > 1 {
			t.Errorf("proxy %d was asked %d times", i, n)
		}
	}
	if total != 4 {
		t.Errorf("%d attempts", total)
	}
}

func TestExchangeTimeoutIsTold(t *testing.T) {
	r := newRig(t)
	r.attempts.ExchangeTimeout = 100 * time.Millisecond // sooner than the handshake's
	r.start(r.proxy(silent).addr(), r.proxy(silent).addr())
	c := r.dial()
	c.send(connectHead(target))
	resp, body := c.reply()
	if resp.StatusCode != 504 {
		t.Errorf("status %s", resp.Status)
	}
	checkRefusal(t, resp, body, "timeout")
	if !r.untouched(0) || !r.untouched(1) {
		t.Error("the exchange's own deadline is held against a proxy")
	}
}

func TestNoDirectConnectionWhateverThePoolIsLike(t *testing.T) {
	var direct atomic.Int64
	origin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer origin.Close()
	go func() {
		for {
			c, err := origin.Accept()
			if err != nil {
				return
			}
			direct.Add(1)
			_ = c.Close()
		}
	}()
	t.Setenv("HTTPS_PROXY", "")
	for name, prepare := range map[string]func(*rig) string{
		"dead":    func(r *rig) string { return r.closedPort() },
		"refuses": func(r *rig) string { return r.proxy(answers("HTTP/1.1 407 Auth\r\n\r\n")).addr() },
		"drained": func(r *rig) string { return r.proxy(tunnels).addr() + " weight=0" },
		"breaks":  func(r *rig) string { return r.proxy(answers(ok200)).addr() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.start(prepare(r))
			at := origin.Addr().String()
			for _, head := range []string{connectHead(at), "GET http://" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\n\r\n"} {
				c := r.dial()
				c.send(head)
				_ = c.CloseWrite()
				_, _ = c.br.Peek(1)
				_ = c.Close()
			}
		})
	}
	if n := direct.Load(); n > 0 {
		t.Errorf("the target saw %d direct connections", n)
	}
}

// overTLS is the script of a proxy that speaks TLS: play gets a connection that
// asked for a tunnel. There is no certificate to be trusted: that is the
// dialer's business.
func overTLS(t testing.TB, play func(conn *tls.Conn)) func(*peer) {
	config := &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}
	return func(c *peer) {
		conn := tls.Server(c.TCPConn, config)
		head := make([]byte, len(askedHead(target)))
		if _, err := readFull(conn, head); err == nil {
			play(conn)
		}
	}
}

func TestTLSProxyStreamsLikeAnyOther(t *testing.T) {
	r := newRig(t)
	p := r.proxy(overTLS(t, func(conn *tls.Conn) {
		_, _ = conn.Write([]byte(ok200))
		buf := make([]byte, 64<<10)
		for {
			n, err := conn.Read(buf)
			_, _ = conn.Write(buf[:n])
			if err != nil {
				_ = conn.CloseWrite()
				return
			}
		}
	}))
	r.start("https://" + p.addr() + " insecure=true")
	c := r.connect(target)
	bulk := pattern(8 << 20)
	go func() {
		_, _ = c.Write(bulk)
		_ = c.CloseWrite()
	}()
	if err := sameBytes(c.br, bulk); err != nil {
		t.Error(err)
	}
}

func selfSigned(t testing.TB) tls.Certificate {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "proxy.test"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
