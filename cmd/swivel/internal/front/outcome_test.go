package front

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool"
)

// says is what an attempt says about its proxy.
type says string

const (
	success   says = "success"
	failure   says = "failure"
	refused   says = "refused"
	throttled says = "throttled"
	nothing   says = "ignored"
	// doubt counts nothing by itself, and as a failure as soon as another proxy
	// reaches the target.
	doubt says = "in doubt"
)

// row is a line of the outcome table: what a proxy does, what that is taken
// for, and what it says about the proxy.
type row struct {
	name   string
	script func(*peer) // nil: nobody listens
	signal pool.Signal
	says   says
	scheme string // of the proxy; "" is http://
	plain  bool   // the client asks for a page and not for a tunnel
	unused bool   // the client asks nothing of its tunnel
	leaves bool   // the client does not wait for an answer
	asked  func() bool
}

// tunnelled says whether it is about what comes behind the 200.
func (row row) tunnelled() bool { return strings.HasPrefix(row.name, "tunnel, ") }

// outcomeTable is the whole of what attempts can say, but for names of proxies
// that do not resolve and for faults of this machine: the dialer's tests bring
// those about.
func outcomeTable() (all []row) {
	for phase, rows := range map[string][]row{
		"dial": dialRows(), "handshake": handshakeRows(), "socks": socksRows(), "tunnel": tunnelRows(), "plain": plainRows(),
	} {
		for _, r := range rows {
			r.name = phase + ", " + r.name
			r.plain = phase == "plain"
			all = append(all, r)
		}
	}
	return all
}

func dialRows() []row {
	return []row{
		{name: "port closed", signal: pool.DialRefused, says: failure},
		{name: "TLS to the proxy takes too long", scheme: "https://", script: func(c *peer) { c.drain() }, signal: pool.DialTimeout, says: failure},
		{name: "TLS to the proxy fails", scheme: "https://", script: func(c *peer) { c.take(5); c.send("HTTP/1.1 400 Bad\r\n\r\n") }, signal: pool.DialTLS, says: failure},
	}
}

func handshakeRows() []row {
	return []row{
		{name: "garbage", script: answers("SSH-2.0-OpenSSH_9.6\r\n"), signal: pool.HandshakeGarbage, says: failure},
		{name: "oversized head", script: answers("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 128<<10) + "\r\n\r\n"), signal: pool.HandshakeGarbage, says: failure},
		{name: "407", script: answers("HTTP/1.1 407 Auth\r\nProxy-Authenticate: Basic\r\n\r\n"), signal: pool.HandshakeAuth, says: refused},
		{name: "401", script: answers("HTTP/1.1 401 Auth\r\n\r\n"), signal: pool.HandshakeAuth, says: refused},
		{name: "402", script: answers("HTTP/1.1 402 Pay\r\n\r\n"), signal: pool.HandshakeAuth, says: refused},
		{name: "429", script: answers("HTTP/1.1 429 Slow\r\n\r\n"), signal: pool.HandshakeThrottled, says: throttled},
		{name: "503 with Retry-After", script: answers("HTTP/1.1 503 Busy\r\nRetry-After: 60\r\n\r\n"), signal: pool.HandshakeThrottled, says: throttled},
		{name: "403", script: answers("HTTP/1.1 403 No\r\n\r\n"), signal: pool.HandshakeDenied, says: nothing},
		{name: "302", script: answers("HTTP/1.1 302 Found\r\nLocation: http://portal.test/\r\n\r\n"), signal: pool.HandshakeRejected, says: failure},
		{name: "404", script: answers("HTTP/1.1 404 What\r\n\r\n"), signal: pool.HandshakeRejected, says: failure},
		{name: "501", script: answers("HTTP/1.1 501 What\r\n\r\n"), signal: pool.HandshakeRejected, says: failure},
		{name: "408", script: answers("HTTP/1.1 408 Late\r\n\r\n"), signal: pool.HandshakeGateway, says: doubt},
		{name: "500", script: answers("HTTP/1.1 500 Broken\r\n\r\n"), signal: pool.HandshakeGateway, says: doubt},
		{name: "502", script: answers("HTTP/1.1 502 Bad\r\n\r\n"), signal: pool.HandshakeGateway, says: doubt},
		{name: "503", script: answers("HTTP/1.1 503 Bad\r\n\r\n"), signal: pool.HandshakeGateway, says: doubt},
		{name: "504", script: answers("HTTP/1.1 504 Late\r\n\r\n"), signal: pool.HandshakeGateway, says: doubt},
		{name: "closed", script: answers(""), signal: pool.HandshakeClosed, says: doubt},
		{name: "closed inside the head", script: answers("HTTP/1.1 200 OK\r\nX: "), signal: pool.HandshakeClosed, says: doubt},
		{name: "reset", script: func(c *peer) { c.head(); c.reset() }, signal: pool.HandshakeClosed, says: doubt},
		{name: "silence", script: silent, signal: pool.HandshakeTimeout, says: doubt},
		{name: "the client leaves", script: silent, leaves: true, signal: pool.ClientGone, says: nothing},
		{name: "503 for a name that does not resolve", script: answers("HTTP/1.1 503 Bad\r\nX-Squid-Error: ERR_DNS_FAIL 0\r\n\r\n"), signal: pool.TargetNamed, says: nothing},
		{name: "502 that names the target", script: answers("HTTP/1.1 502 Bad\r\nProxy-Status: up; error=destination_unavailable\r\n\r\n"), signal: pool.TargetNamed, says: nothing},
	}
}

// socks5 is a proxy that reads the greeting, answers it, and the request too.
func socks5(greeting, reply string) func(*peer) {
	return func(c *peer) {
		c.take(3)
		c.send(greeting)
		if reply != "" {
			c.take(5 + len("example.test") + 2)
			c.send(reply)
		}
	}
}

func socksRows() (rows []row) {
	code := func(b byte) func(*peer) {
		return socks5("\x05\x00", "\x05"+string([]byte{b})+"\x00\x01\x00\x00\x00\x00\x00\x00")
	}
	rows = []row{
		{name: "another protocol", script: socks5("HTTP/1.1 400 Bad Request\r\n\r\n", ""), signal: pool.HandshakeGarbage, says: failure},
		{name: "a method that was not offered", script: socks5("\x05\x77", ""), signal: pool.HandshakeAuth, says: refused},
		{name: "no acceptable method", script: socks5("\x05\xff", ""), signal: pool.HandshakeAuth, says: refused},
		{name: "not allowed", script: code(2), signal: pool.HandshakeDenied, says: nothing},
		{name: "command not supported", script: code(7), signal: pool.HandshakeUnsupported, says: nothing},
		{name: "address type not supported", script: code(8), signal: pool.HandshakeUnsupported, says: nothing},
		{name: "general failure", script: code(1), signal: pool.HandshakeFailed, says: doubt},
		{name: "network unreachable", script: code(3), signal: pool.TargetNamed, says: nothing},
		{name: "host unreachable", script: code(4), signal: pool.TargetNamed, says: nothing},
		{name: "connection refused", script: code(5), signal: pool.TargetNamed, says: nothing},
		{name: "TTL expired", script: code(6), signal: pool.TargetNamed, says: nothing},
		{name: "closed", script: socks5("\x05\x00", ""), signal: pool.HandshakeClosed, says: doubt},
	}
	for i := range rows {
		rows[i].scheme = "socks5://"
	}
	return append(rows, row{
		name: "password rejected", scheme: "socks5://user1:s3cret@",
		script: func(c *peer) { c.take(4); c.send("\x05\x02"); c.take(3 + len("user1s3cret")); c.send("\x01\x01") },
		signal: pool.HandshakeAuth, says: refused,
	})
}

// behind200 opens the tunnel, waits for what the client asks, and goes on.
func behind200(then func(*peer)) func(*peer) {
	return func(c *peer) {
		c.head()
		c.send(ok200)
		c.take(1)
		then(c)
	}
}

func tunnelRows() []row {
	return []row{
		{name: "a byte comes", script: tunnels, signal: pool.FirstByte, says: success},
		{name: "closed with the 200", script: answers(ok200), signal: pool.TunnelClosed, says: doubt},
		{name: "closed when asked", script: behind200(func(*peer) {}), signal: pool.TunnelClosed, says: doubt},
		{name: "reset when asked", script: behind200((*peer).reset), signal: pool.TunnelClosed, says: doubt},
		{name: "silence", script: behind200(func(c *peer) { c.drain() }), signal: pool.TunnelSilent, says: doubt},
		{name: "the client leaves", script: behind200(func(c *peer) { c.drain() }), leaves: true, signal: pool.ClientGone, says: nothing},
		{name: "never used", script: tunnels, unused: true, signal: pool.TunnelUnused, says: nothing},
	}
}

func plainRows() (rows []row) {
	page := func(status string, fields ...string) string {
		return "HTTP/1.1 " + status + "\r\n" + strings.Join(append(fields, "Content-Length: 2", "", "ok"), "\r\n")
	}
	for _, status := range []string{"200 OK", "403 No", "404 What", "429 Slow", "500 Broken", "502 Bad", "503 Bad", "504 Late"} {
		rows = append(rows, row{name: status + " of the target", script: answers(page(status, "Server: nginx")), signal: pool.Response, says: success})
	}
	const squid = "X-Squid-Error: ERR_CONNECT_FAIL 111"
	return append(rows, []row{
		{name: "502 of the proxy", script: answers(page("502 Bad", squid)), signal: pool.HandshakeGateway, says: doubt},
		{name: "503 of the proxy", script: answers(page("503 Bad", "Via: 1.1 proxy")), signal: pool.HandshakeGateway, says: doubt},
		{name: "504 of the proxy", script: answers(page("504 Late", "Proxy-Status: up; error=connection_timeout")), signal: pool.HandshakeGateway, says: doubt},
		{name: "503 for a name that does not resolve", script: answers(page("503 Bad", "X-Squid-Error: ERR_DNS_FAIL 0")), signal: pool.TargetNamed, says: nothing},
		{name: "407", script: answers(page("407 Auth", "Proxy-Authenticate: Basic")), signal: pool.HandshakeAuth, says: refused},
		{name: "401 of the proxy", script: answers(page("401 Auth", "Server: tinyproxy/1.11.1")), signal: pool.HandshakeAuth, says: refused},
		{name: "429 of the proxy", script: answers(page("429 Slow", squid)), signal: pool.HandshakeThrottled, says: throttled},
		{name: "closed before a head", script: answers(""), signal: pool.ResponseClosed, says: doubt},
		{name: "closed inside the head", script: answers("HTTP/1.1 200 OK\r\nX: "), signal: pool.ResponseClosed, says: doubt},
		{name: "reset before a head", script: func(c *peer) { c.head(); c.reset() }, signal: pool.ResponseClosed, says: doubt},
		{name: "silence", script: silent, signal: pool.ResponseTimeout, says: doubt},
		{name: "the client leaves", script: silent, leaves: true, signal: pool.ClientGone, says: nothing},
		{name: "body cut short", script: answers("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"), signal: pool.ResponseCut, says: doubt},
		{name: "chunks cut short", script: answers("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nok"), signal: pool.ResponseCut, says: doubt},
		{name: "garbage", script: answers("SSH-2.0-OpenSSH_9.6\r\n"), signal: pool.ResponseGarbage, says: doubt},
	}...)
}

// TestOutcomes goes through the table with real clients, tunnels and pages, and
// every script three ways: what an attempt says must not depend on how the bytes
// were cut into packets.
func TestOutcomes(t *testing.T) {
	for _, row := range outcomeTable() {
		for _, by := range deliveries {
			if row.script == nil && by != normal {
				continue
			}
			t.Run(row.name+", "+string(by), func(t *testing.T) { row.run(t, by) })
		}
	}
}

// soon is the time for what does not come.
const soon = 60 * time.Millisecond

// run asks the proxy once, alone, and then another for the same target.
func (row row) run(t *testing.T, by delivery) {
	r := newRig(t)
	switch row.signal {
	case pool.HandshakeTimeout, pool.DialTimeout: // TLS is part of the handshake's time
		r.timeouts.Handshake = soon
	case pool.TunnelSilent:
		r.attempts.FirstByte = soon
	case pool.ResponseTimeout:
		r.attempts.Response = soon
	}
	addr := r.closedPort()
	if row.script != nil {
		p := r.proxyBy(by, row.script)
		addr = p.addr()
		row.asked = func() bool { n, _ := p.asked(); return n > 0 }
	}
	r.start(row.scheme+addr, r.proxy(serves).addr())

	r.only(0)
	row.ask(r)
	want, counted := row.says, 0
	if want == doubt {
		want = nothing
	}
	if got := r.logged(1).signals(); got != row.signal.String()+"/"+string(want) {
		t.Errorf("%s, want %v/%s", got, row.signal, want)
	}
	if row.says == failure {
		counted = 1
	}
	r.counts(counted, row.says == refused || row.says == throttled)

	r.only(1)
	row.unused, row.leaves = false, false
	row.ask(r)
	r.logged(2)
	if row.says == doubt {
		r.counts(1, false)
	}
}

// only leaves the n-th of two proxies in use.
func (r *rig) only(n int) {
	both := r.pool.Proxies()
	r.pool.Resume(both)
	r.pool.Pause(both[1-n:2-n], pool.Pause{})
}

// counts checks what is held against the first proxy.
func (r *rig) counts(failures int, open bool) {
	r.t.Helper()
	if s := r.snapshot(0); len(s.Failures) != failures || (s.State == breaker.Open) != open || s.Suspicions != 0 {
		r.t.Errorf("%d failures, %d suspicions, %v; want %d failures, open %v", len(s.Failures), s.Suspicions, s.State, failures, open)
	}
}

// serves is a proxy that works, whatever is asked.
func serves(c *peer) {
	switch head := c.head(); {
	case strings.HasPrefix(head, "CONNECT "):
		c.send(ok200)
		c.echo()
	case head != "":
		c.send("HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Length: 2\r\n\r\nok")
	}
}

// ask is one exchange, to its end.
func (row row) ask(r *rig) {
	c := r.dial()
	defer c.Close()
	if row.plain {
		c.send("GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\n\r\n")
		if row.leaves {
			eventually(r.t, "the proxy is asked", row.asked)
			return
		}
		if resp, err := http.ReadResponse(c.br, nil); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
		}
		return
	}
	c.send(connectHead(target))
	if row.leaves && !row.tunnelled() {
		eventually(r.t, "the proxy is asked", row.asked)
		return
	}
	if resp, _ := c.reply(); resp.StatusCode == 200 && !row.unused {
		_, _ = io.WriteString(c, "?") // the tunnel may have ended
		if row.signal == pool.TunnelSilent {
			_ = c.SetReadDeadline(time.Now().Add(10 * soon))
		}
		if row.leaves {
			return
		}
		_, _ = bufio.NewReader(c.br).ReadByte()
	}
}
