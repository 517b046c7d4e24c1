package upstream

import (
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"swivel/pool"
)

const okReply = "HTTP/1.1 200 Connection established\r\n\r\n"

// connectHead is the only CONNECT that may leave us.
func connectHead(target, user string) string {
	head := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if user != "" {
		head += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user)) + "\r\n"
	}
	return head + "\r\n"
}

// row is one line of the outcome table: an upstream, and what an attempt
// through it must run into. NoSignal is a tunnel.
type row struct {
	name   string
	scheme pool.Scheme
	user   string // "name:password"
	target string // "" is origin.test:443
	steps  []step
	end    ending
	want   pool.Signal
	status int
	rest   time.Duration
}

// answer is a row of an HTTP proxy that answers CONNECT with reply.
func answer(name, reply string, want pool.Signal, status int) row {
	return row{
		name:  name,
		steps: []step{{connectHead("origin.test:443", ""), reply}},
		want:  want, status: status,
	}
}

func (r row) ends(e ending) row { r.end = e; return r }

func (r row) rests(d time.Duration) row { r.rest = d; return r }

func status(line string, fields ...string) string {
	return "HTTP/1.1 " + line + "\r\n" + strings.Join(append(fields, "", ""), "\r\n")
}

func httpRows() []row {
	to := "origin.test:443"
	return []row{
		answer("200", okReply, pool.NoSignal, 0),
		answer("HTTP/1.0 and Connection close mean nothing", "HTTP/1.0 200 Connection established\r\nProxy-Agent: tinyproxy/1.11.1\r\nConnection: close\r\n\r\n", pool.NoSignal, 0),
		answer("204", status("204 No Content"), pool.NoSignal, 0),
		answer("299 without a phrase", "HTTP/1.1 299\r\n\r\n", pool.NoSignal, 0),
		answer("a length with a 200 is ignored", status("200 OK", "Content-Length: 5"), pool.NoSignal, 0),
		answer("bare line feeds", "HTTP/1.1 200 OK\nX: y\n\n", pool.NoSignal, 0),
		answer("interim replies", strings.Repeat(status("103 Early Hints", "Link: </x>"), 8)+okReply, pool.NoSignal, 0),
		answer("interim replies without end", strings.Repeat(status("100 Continue"), 9), pool.HandshakeGarbage, 0),
		answer("101", status("101 Switching Protocols"), pool.HandshakeGarbage, 101),
		{name: "IPv6 target in brackets", target: "[2001:db8::1]:443", steps: []step{{connectHead("[2001:db8::1]:443", ""), okReply}}},
		{name: "credentials", user: "user1:s3cret", steps: []step{{connectHead(to, "user1:s3cret"), okReply}}},
		{name: "user without password", user: "user1:", steps: []step{{connectHead(to, "user1:"), okReply}}},
		{name: "control bytes stay inside base64", user: "user1\r\nX-Evil: 1:p\x00w", steps: []step{{connectHead(to, "user1\r\nX-Evil: 1:p\x00w"), okReply}}},

		answer("407", status("407 Proxy Authentication Required", `Proxy-Authenticate: Basic realm="vendor"`, "Content-Length: 1048576"), pool.HandshakeAuth, 407),
		answer("401", status("401 Unauthorized"), pool.HandshakeAuth, 401),
		answer("402", status("402 Payment Required"), pool.HandshakeAuth, 402),
		answer("403", status("403 Forbidden"), pool.HandshakeDenied, 403),
		answer("429 without a time", status("429 Too Many Requests"), pool.HandshakeThrottled, 429).rests(30 * time.Second),
		answer("429 with a time", status("429 Too Many Requests", "Retry-After: 7"), pool.HandshakeThrottled, 429).rests(7 * time.Second),
		answer("503 with a time", status("503 Service Unavailable", "Retry-After: 120"), pool.HandshakeThrottled, 503).rests(2 * time.Minute),
		answer("503 with a time long past", status("503 Service Unavailable", "Retry-After: "+time.Unix(0, 0).UTC().Format(http.TimeFormat)), pool.HandshakeGateway, 503),
		answer("503", status("503 Service Unavailable"), pool.HandshakeGateway, 503),
		answer("503 for a name", status("503 Service Unavailable", "X-Squid-Error: ERR_DNS_FAIL 0"), pool.TargetNamed, 503),
		answer("502 that names the target", status("502 Bad Gateway", "Proxy-Status: exit; error=destination_unavailable"), pool.TargetNamed, 502),
		answer("408", status("408 Request Timeout"), pool.HandshakeGateway, 408),
		answer("500", status("500 Unable to connect"), pool.HandshakeGateway, 500),
		answer("502", status("502 Bad Gateway"), pool.HandshakeGateway, 502),
		answer("504", status("504 Gateway Timeout"), pool.HandshakeGateway, 504),
		answer("302", status("302 Found", "Location: http://portal.test/"), pool.HandshakeRejected, 302),
		answer("404", status("404 Not Found"), pool.HandshakeRejected, 404),
		answer("405", status("405 Method Not Allowed"), pool.HandshakeRejected, 405),
		answer("501", status("501 Not Implemented"), pool.HandshakeRejected, 501),
		answer("520", status("520 Unknown"), pool.HandshakeRejected, 520),

		answer("another protocol's greeting", "SSH-2.0-OpenSSH_9.6\r\n", pool.HandshakeGarbage, 0),
		answer("a SOCKS5 server", "\x05\xff", pool.HandshakeGarbage, 0),
		answer("HTTP/2", "HTTP/2 200\r\n\r\n", pool.HandshakeGarbage, 0),
		answer("status without digits", "HTTP/1.1 OK\r\n\r\n", pool.HandshakeGarbage, 0),
		answer("oversized head", okReply[:len(okReply)-2]+"X-Pad: "+strings.Repeat("x", maxReplyHead)+"\r\n\r\n", pool.HandshakeGarbage, 0),
		answer("oversized first line", "HTTP/1.1 200 "+strings.Repeat("x", maxReplyHead)+"\r\n\r\n", pool.HandshakeGarbage, 0),
		answer("closed without an answer", "", pool.HandshakeClosed, 0).ends(hangUp),
		answer("closed inside the head", "HTTP/1.1 200 OK\r\nX:", pool.HandshakeClosed, 0).ends(hangUp),
		answer("reset without an answer", "", pool.HandshakeClosed, 0).ends(reset),
		answer("silence", "", pool.HandshakeTimeout, 0),
		answer("silence inside the head", "HTTP/1.1 200 OK\r\n", pool.HandshakeTimeout, 0),
	}
}

const (
	s5Hello  = "\x05\x01\x00"
	s5Offer  = "\x05\x02\x00\x02" // with credentials
	s5Name   = "\x05\x01\x00\x03\x0borigin.test\x01\xbb"
	s5Bound  = "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
	s4Name   = "\x04\x01\x01\xbb\x00\x00\x00\x01\x00origin.test\x00"
	s4Bound  = "\x00\x5a\x00\x00\x00\x00\x00\x00"
	longName = 255
)

// socks5Code is a row of a SOCKS5 proxy that replies with code and no more.
func socks5Code(name string, code byte, want pool.Signal) row {
	return row{
		name: name, scheme: pool.SOCKS5, want: want, status: int(code),
		steps: []step{{s5Hello, "\x05\x00"}, {s5Name, "\x05" + string([]byte{code}) + "\x00\x01\x00\x00\x00\x00\x00\x00"}},
	}
}

// socks5Greeting is a row of a SOCKS5 proxy that fails the greeting.
func socks5Greeting(name, user, reply string, want pool.Signal, status int) row {
	hello := s5Hello
	if user != "" {
		hello = s5Offer
	}
	return row{
		name: name, scheme: pool.SOCKS5, user: user, want: want, status: status,
		steps: []step{{hello, reply}},
	}
}

func socks5Password(name, password, reply string, want pool.Signal, status int) row {
	r := socks5Greeting(name, "user1:"+password, "\x05\x02", want, status)
	r.steps = append(r.steps, step{"\x01\x05user1" + string([]byte{byte(len(password))}) + password, reply})
	if want == pool.NoSignal {
		r.steps = append(r.steps, step{s5Name, s5Bound})
	}
	return r
}

func socks5To(name string, scheme pool.Scheme, target, request, reply string) row {
	return row{name: name, scheme: scheme, target: target, steps: []step{{s5Hello, "\x05\x00"}, {request, reply}}}
}

func socks5Rows() []row {
	user, password, host := strings.Repeat("u", 255), strings.Repeat("p", 255), strings.Repeat("h", longName)
	return []row{
		socks5To("name stays a name", pool.SOCKS5, "", s5Name, s5Bound),
		socks5To("name stays a name, socks5h", pool.SOCKS5H, "", s5Name, s5Bound),
		socks5To("IPv4 target", pool.SOCKS5, "192.0.2.7:80", "\x05\x01\x00\x01\xc0\x00\x02\x07\x00\x50", s5Bound),
		socks5To("IPv6 target over IPv4", pool.SOCKS5, "[::1]:8000", "\x05\x01\x00\x04"+strings.Repeat("\x00", 15)+"\x01\x1f\x40", s5Bound),
		socks5To("bound to a name of one byte", pool.SOCKS5, "", s5Name, "\x05\x00\x00\x03\x01\x61\x00\x50"),
		socks5To("bound to a name of none", pool.SOCKS5, "", s5Name, "\x05\x00\x00\x03\x00\x00\x50"),
		socks5To("bound to IPv6", pool.SOCKS5, "", s5Name, "\x05\x00\x00\x04"+strings.Repeat("\x00", 18)),
		{
			name: "255 bytes of everything", scheme: pool.SOCKS5, user: user + ":" + password, target: host + ":443",
			steps: []step{
				{s5Offer, "\x05\x02"},
				{"\x01\xff" + user + "\xff" + password, "\x01\x00"},
				{"\x05\x01\x00\x03\xff" + host + "\x01\xbb", s5Bound},
			},
		},
		{
			name: "credentials not asked for", scheme: pool.SOCKS5, user: "user1:s3cret",
			steps: []step{{s5Offer, "\x05\x00"}, {s5Name, s5Bound}},
		},
		socks5Password("password accepted", "s3cret", "\x01\x00", pool.NoSignal, 0),
		socks5Password("empty password", "", "\x01\x00", pool.NoSignal, 0),
		socks5Password("password rejected", "s3cret", "\x01\x01", pool.HandshakeAuth, 1),
		socks5Password("password reply of no version", "s3cret", "\x07\x00", pool.HandshakeGarbage, 0),
		socks5Password("closed at the password", "s3cret", "", pool.HandshakeClosed, 0).ends(hangUp),

		socks5Greeting("password demanded, none there", "", "\x05\x02", pool.HandshakeAuth, 2),
		socks5Greeting("no acceptable method", "user1:s3cret", "\x05\xff", pool.HandshakeAuth, 0xff),
		socks5Greeting("GSSAPI", "user1:s3cret", "\x05\x01", pool.HandshakeAuth, 1),
		socks5Greeting("GSSAPI, no credentials", "", "\x05\x01", pool.HandshakeAuth, 1),
		socks5Greeting("no user to name", ":s3cret", "\x05\x02", pool.HandshakeAuth, 0),
		socks5Greeting("user of 256 bytes", user+"u:", "\x05\x02", pool.HandshakeAuth, 0),
		socks5Greeting("an HTTP server", "", "HTTP/1.1 400 Bad Request\r\n\r\n", pool.HandshakeGarbage, 0),
		socks5Greeting("a SOCKS4 server", "", "\x00\x5b\x00\x00\x00\x00\x00\x00", pool.HandshakeGarbage, 0),
		socks5Greeting("closed at the greeting", "", "", pool.HandshakeClosed, 0).ends(hangUp),
		socks5Greeting("reset at the greeting", "", "", pool.HandshakeClosed, 0).ends(reset),
		socks5Greeting("silent at the greeting", "", "", pool.HandshakeTimeout, 0),
		socks5Greeting("silent after the greeting", "", "\x05\x00", pool.HandshakeTimeout, 0).then(s5Name, ""),
		socks5Greeting("closed after the greeting", "", "\x05\x00", pool.HandshakeClosed, 0).then(s5Name, "").ends(hangUp),
		socks5Greeting("reply of another version", "", "\x05\x00", pool.HandshakeGarbage, 0).then(s5Name, "\x04\x00\x00\x01"),
		socks5Greeting("reply of no address type", "", "\x05\x00", pool.HandshakeGarbage, 0).then(s5Name, "\x05\x00\x00\x09\x00\x00\x00\x00\x00\x00"),
		socks5Greeting("a refusal cut short", "", "\x05\x00", pool.TargetNamed, 4).then(s5Name, "\x05\x04").ends(hangUp),

		socks5Code("general failure", 1, pool.HandshakeFailed),
		socks5Code("not allowed by ruleset", 2, pool.HandshakeDenied),
		socks5Code("network unreachable", 3, pool.TargetNamed),
		socks5Code("host unreachable", 4, pool.TargetNamed),
		socks5Code("connection refused", 5, pool.TargetNamed),
		socks5Code("TTL expired", 6, pool.TargetNamed),
		socks5Code("command not supported", 7, pool.HandshakeUnsupported),
		socks5Code("address type not supported", 8, pool.HandshakeUnsupported),
		socks5Code("unassigned code", 0x5b, pool.HandshakeFailed),
	}
}

func (r row) then(expect, send string) row {
	r.steps = append(r.steps, step{expect, send})
	return r
}

func socks4Reply(name, reply string, want pool.Signal, status int) row {
	return row{name: name, scheme: pool.SOCKS4A, want: want, status: status, steps: []step{{s4Name, reply}}}
}

func socks4Rows() []row {
	return []row{
		socks4Reply("granted", s4Bound, pool.NoSignal, 0),
		socks4Reply("granted by version 4", "\x04\x5a\x12\x34\x7f\x00\x00\x01", pool.NoSignal, 0),
		{name: "a name is a name under socks4", scheme: pool.SOCKS4, steps: []step{{s4Name, s4Bound}}},
		{name: "IPv4 target", scheme: pool.SOCKS4, target: "192.0.2.7:80", steps: []step{{"\x04\x01\x00\x50\xc0\x00\x02\x07\x00", s4Bound}}},
		{name: "IPv4 target that looks like the mark of a name", scheme: pool.SOCKS4, target: "0.0.0.9:80", steps: []step{{"\x04\x01\x00\x50\x00\x00\x00\x01\x000.0.0.9\x00", s4Bound}}},
		{name: "user id", scheme: pool.SOCKS4, user: "user1:", target: "192.0.2.7:80", steps: []step{{"\x04\x01\x00\x50\xc0\x00\x02\x07user1\x00", s4Bound}}},
		{name: "user id and name", scheme: pool.SOCKS4A, user: "user1:", steps: []step{{"\x04\x01\x01\xbb\x00\x00\x00\x01user1\x00origin.test\x00", s4Bound}}},
		socks4Reply("rejected or failed", "\x00\x5b\x00\x00\x00\x00\x00\x00", pool.HandshakeFailed, 0x5b),
		socks4Reply("no identd", "\x00\x5c\x00\x00\x00\x00\x00\x00", pool.HandshakeAuth, 0x5c),
		socks4Reply("wrong user", "\x00\x5d\x00\x00\x00\x00\x00\x00", pool.HandshakeAuth, 0x5d),
		socks4Reply("a code of none", "\x00\x00\x00\x00\x00\x00\x00\x00", pool.HandshakeGarbage, 0),
		socks4Reply("a SOCKS5 server", "\x05\xff", pool.HandshakeGarbage, 0),
		socks4Reply("an HTTP server", "HTTP/1.1 400 Bad Request\r\n\r\n", pool.HandshakeGarbage, 0),
		socks4Reply("closed without an answer", "", pool.HandshakeClosed, 0).ends(hangUp),
		socks4Reply("closed inside the reply", "\x00\x5a\x00", pool.HandshakeClosed, 0).ends(hangUp),
		socks4Reply("reset", "", pool.HandshakeClosed, 0).ends(reset),
		socks4Reply("silence", "", pool.HandshakeTimeout, 0),
		socks4Reply("silence inside the reply", "\x00\x5a\x00", pool.HandshakeTimeout, 0),
	}
}

// TestOutcomes runs every upstream three ways: what an attempt says must not
// depend on how the bytes were cut into packets.
func TestOutcomes(t *testing.T) {
	for group, rows := range map[string][]row{"http": httpRows(), "socks5": socks5Rows(), "socks4": socks4Rows()} {
		t.Run(group, func(t *testing.T) {
			noLeaks(t)
			t.Run("", func(t *testing.T) {
				for _, r := range rows {
					for _, by := range deliveries {
						t.Run(r.name+"/"+string(by), func(t *testing.T) {
							t.Parallel()
							r.run(t, by)
						})
					}
				}
			})
		})
	}
}

func (r row) run(t *testing.T, by delivery) {
	s := script{steps: r.steps, end: r.end}
	if r.want == pool.NoSignal {
		// More than the buffer of any reader.
		s.follow = "SSH-2.0-x\r\n" + strings.Repeat("0123456789abcdef", 1024)
	}
	addr, done := serve(t, s, by, nil)
	d := patient()
	if r.want == pool.HandshakeTimeout {
		d = NewDialer(Timeouts{Handshake: 100 * time.Millisecond})
	}
	to := r.target
	if to == "" {
		to = "origin.test:443"
	}
	conn, err := d.Tunnel(background(t), specFor(r.scheme, addr, r.user), to)
	said := ""
	if r.want == pool.NoSignal {
		if err != nil {
			t.Fatalf("no tunnel: %v (upstream: %v)", err, (<-done).err)
		}
		said = "ping"
		checkTunnel(t, conn, s.follow, said)
	} else {
		checkError(t, conn, err, r)
	}
	got := <-done
	if got.err != nil {
		t.Error(got.err)
	}
	if by != coalesced && got.extra != said {
		t.Errorf("upstream received %q beyond the handshake, want %q", got.extra, said)
	}
	if by == coalesced && !strings.HasSuffix(got.extra, said) {
		t.Errorf("upstream received %q, want it to end in %q", got.extra, said)
	}
}

// checkTunnel reads all that follows, early bytes first, then says something.
func checkTunnel(t *testing.T, conn *Conn, follow, say string) {
	t.Helper()
	defer conn.Close()
	if _, raw := conn.Conn.(*net.TCPConn); !raw {
		t.Errorf("the connection is a %T", conn.Conn)
	}
	if conn.Early != nil && len(conn.Early) == 0 {
		t.Error("Early is empty but not nil")
	}
	rest, err := io.ReadAll(conn)
	if got := string(conn.Early) + string(rest); got != follow || err != nil {
		t.Errorf("%d+%d of %d bytes followed, error %v", len(conn.Early), len(rest), len(follow), err)
	}
	if _, err := io.WriteString(conn, say); err != nil {
		t.Error(err)
	}
}

func checkError(t *testing.T, conn *Conn, err error, want row) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || conn != nil {
		t.Fatalf("got %v, %v, want an *Error", conn, err)
	}
	if e.Signal != want.want || e.Status != want.status || e.RetryAfter != want.rest {
		t.Errorf("signal %v, status %d, rest %v (%v), want %v, %d, %v",
			e.Signal, e.Status, e.RetryAfter, e, want.want, want.status, want.rest)
	}
	if SignalOf(err) != want.want || e.Err == nil {
		t.Errorf("%v has signal %v, reason %v", err, SignalOf(err), e.Err)
	}
}

// TestRefusedBeforeContact: what a protocol cannot carry must not cost the
// proxy a connection, nor a caller's mistake be held against it.
func TestRefusedBeforeContact(t *testing.T) {
	noLeaks(t)
	long := strings.Repeat("h", 256) + ":80"
	for _, r := range []row{
		{name: "SOCKS4 to IPv6", scheme: pool.SOCKS4, target: "[::1]:8000", want: pool.HandshakeUnsupported},
		{name: "SOCKS4a to IPv6", scheme: pool.SOCKS4A, target: "[::1]:8000", want: pool.HandshakeUnsupported},
		{name: "SOCKS4 to a long name", scheme: pool.SOCKS4, target: long, want: pool.HandshakeUnsupported},
		{name: "SOCKS5 to a long name", scheme: pool.SOCKS5, target: long, want: pool.HandshakeUnsupported},
		{name: "NUL in a user id", scheme: pool.SOCKS4, user: "us\x00er:", target: "a.test:80", want: pool.HandshakeAuth},
		{name: "no port", target: "a.test", want: pool.LocalFault},
		{name: "port 0", target: "a.test:0", want: pool.LocalFault},
		{name: "port 65536", target: "a.test:65536", want: pool.LocalFault},
		{name: "no host", target: ":80", want: pool.LocalFault},
		{name: "line break", target: "a.test\r\nX:80", want: pool.LocalFault},
		{name: "NUL", scheme: pool.SOCKS4, target: "a\x00b:80", want: pool.LocalFault},
		{name: "zone", target: "[fe80::1%eth0]:80", want: pool.LocalFault},
		{name: "a name in brackets", target: "[a.test]:80", want: pool.LocalFault},
		{name: "IPv6 without brackets", target: "2001:db8::1:80", want: pool.LocalFault},
	} {
		t.Run(r.name, func(t *testing.T) {
			addr := listen(t, func(c net.Conn) {
				_ = c.Close()
				t.Error("the proxy was contacted")
			})
			conn, err := patient().Tunnel(background(t), specFor(r.scheme, addr, r.user), r.target)
			checkError(t, conn, err, r)
		})
	}
}

func TestHopHasNoUseForSOCKS(t *testing.T) {
	_, err := patient().Hop(background(t), &pool.Spec{Scheme: pool.SOCKS5, Host: "127.0.0.1", Port: 1})
	if SignalOf(err) != pool.LocalFault {
		t.Errorf("got %v", err)
	}
}

// TestOneConnectPerConnection: a tunnel's connection must never be used twice.
func TestOneConnectPerConnection(t *testing.T) {
	noLeaks(t)
	head := connectHead("origin.test:443", "")
	addr, done := serve(t, script{steps: []step{{head, okReply}}}, normal, nil)
	d := patient()
	for range 300 {
		conn, err := d.Tunnel(background(t), specFor(pool.HTTP, addr, ""), "origin.test:443")
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		if got := <-done; got.extra != "" || got.err != nil {
			t.Fatalf("upstream: %+v", got)
		}
	}
}
