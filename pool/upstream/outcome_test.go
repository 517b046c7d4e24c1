package upstream

import (
	"encoding/base64"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/leaktest"
	"swivel/pool/upstream/tcp"
)

const okReply = "HTTP/1.1 200 Connection established\r\n\r\n"

// connectHead is the only CONNECT that may leave us, for a proxy on the loopback.
func connectHead(target, user string) string {
	head := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if user != "" {
		head += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user)) + "\r\n"
	}
	return head + "X-Swivel-Hops: 1\r\n\r\n"
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

func (r row) then(expect, send string) row {
	r.steps = append(r.steps, step{expect, send})
	return r
}

func (r row) rests(d time.Duration) row { r.rest = d; return r }

func status(line string, fields ...string) string {
	return "HTTP/1.1 " + line + "\r\n" + strings.Join(append(fields, "", ""), "\r\n")
}

// TestOutcomes runs every upstream three ways: what an attempt says must not
// depend on how the bytes were cut into packets.
func TestOutcomes(t *testing.T) {
	for group, rows := range map[string][]row{"http": httpRows(), "socks5": socks5Rows(), "socks4": socks4Rows()} {
		t.Run(group, func(t *testing.T) {
			leaktest.Watch(t)
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
		d = NewDialer(Timeouts{Handshake: 250 * time.Millisecond})
	}
	to := r.target
	if to == "" {
		to = "origin.test:443"
	}
	conn, err := d.Tunnel(background(t), specFor(r.scheme, addr, r.user), to, 0)
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
	if _, raw := conn.Conn.(*tcp.Conn); !raw {
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
	leaktest.Watch(t)
	long := strings.Repeat("h", 256) + ":80"
	for _, r := range []row{
		{name: "SOCKS4 to IPv6", scheme: pool.SOCKS4, target: "[::1]:8000", want: pool.HandshakeUnsupported},
		{name: "SOCKS4a to IPv6", scheme: pool.SOCKS4A, target: "[::1]:8000", want: pool.HandshakeUnsupported},
		{name: "SOCKS4 to a long name", scheme: pool.SOCKS4, target: long, want: pool.HandshakeUnsupported},
		{name: "SOCKS5 to a long name", scheme: pool.SOCKS5, target: long, want: pool.HandshakeUnsupported},
		{name: "template that outgrew SOCKS5", scheme: pool.SOCKS5, user: strings.Repeat("u", 256) + ":", target: "a.test:80", want: pool.HandshakeUnsupported},
		{name: "password that outgrew SOCKS5", scheme: pool.SOCKS5H, user: "u:" + strings.Repeat("p", 256), target: "a.test:80", want: pool.HandshakeUnsupported},
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
			conn, err := patient().Tunnel(background(t), specFor(r.scheme, addr, r.user), r.target, 0)
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
	leaktest.Watch(t)
	head := connectHead("origin.test:443", "")
	addr, done := serve(t, script{steps: []step{{head, okReply}}}, normal, nil)
	d := patient()
	for range 300 {
		conn, err := d.Tunnel(background(t), specFor(pool.HTTP, addr, ""), "origin.test:443", 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		if got := <-done; got.extra != "" || got.err != nil {
			t.Fatalf("upstream: %+v", got)
		}
	}
}
