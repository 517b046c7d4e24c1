package front

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

const (
	noAuthOffer = "\x05\x01\x00"
	bothOffer   = "\x05\x02\x00\x02"
	noAuthTaken = "\x05\x00"
	askPassword = "\x05\x02"
	letIn       = "\x01\x00"
	socksOpened = "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
)

// socksLogin is the message with user name and password.
func socksLogin(user, password string) string {
	return fmt.Sprintf("\x01%c%s%c%s", len(user), user, len(password), password)
}

// socksConnect is the request for a name.
func socksConnect(host string, port int) string {
	return fmt.Sprintf("\x05\x01\x00\x03%c%s%s", len(host), host, string([]byte{byte(port >> 8), byte(port)}))
}

// socksRefusal is the answer that ends it.
func socksRefusal(code byte) string {
	return "\x05" + string([]byte{code}) + "\x00\x01\x00\x00\x00\x00\x00\x00"
}

func TestSOCKS5ClientsGetTheSameTunnels(t *testing.T) {
	for _, users := range [][]string{nil, {"user1:s3cret"}} {
		r := newRig(t)
		r.users = users
		p := r.proxy(tunnels)
		r.start(p.addr())
		for asked, want := range map[string]string{
			socksConnect("example.test", 443):                                                "example.test:443", // the proxy looks it up
			"\x05\x01\x00\x01\xc0\x00\x02\x01\x00\x50":                                       "192.0.2.1:80",
			"\x05\x01\x00\x04\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11) + "\x01\x01\xbb": "[2001:db8::1]:443",
		} {
			c := r.dial()
			c.send(bothOffer)
			c.expect(askPassword)
			c.send(socksLogin("user1-session-a1", "s3cret"))
			c.expect(letIn)
			c.send(asked)
			c.expect(socksOpened)
			c.send("x")
			c.expect("x")
			_ = c.Close()
			if _, head := p.asked(); !strings.HasPrefix(head, "CONNECT "+want+" HTTP/1.1\r\n") {
				t.Errorf("the proxy was asked %q, want %s", head, want)
			}
		}
		x := r.logged(3)
		if x.Kind != "socks5" || x.Status != 200 || x.Session != "a1" || x.User != strings.TrimSuffix(strings.Join(users, ""), ":s3cret") || x.Up != 1 || x.Down != 1 {
			t.Errorf("logged %+v", x)
		}
	}
}

// Clients may send everything at once, before they know the answers, or a byte
// at a time.
func TestSOCKS5InAnyPieces(t *testing.T) {
	whole := bothOffer + socksLogin("user1", "s3cret") + socksConnect("example.test", 443) + "early"
	for name, step := range map[string]int{"at once": len(whole), "byte by byte": 1, "in threes": 3} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.users = []string{"user1:s3cret"}
			r.start(r.proxy(tunnels).addr())
			c := r.dial()
			for i := 0; i < len(whole); i += step {
				c.send(whole[i:min(i+step, len(whole))])
			}
			c.expect(askPassword + letIn + socksOpened + "early")
		})
	}
}

func TestSOCKS5WithoutAPasswordIsTheNoAuthPath(t *testing.T) {
	r := newRig(t)
	r.start(r.proxy(tunnels).addr())
	c := r.dial()
	c.send(noAuthOffer)
	c.expect(noAuthTaken)
	c.send(socksConnect("example.test", 443) + "x")
	c.expect(socksOpened + "x")
	_ = c.Close()
}

func TestSOCKS5ClientsThatMayNotComeIn(t *testing.T) {
	r := newRig(t)
	r.users = []string{"user1:s3cret"}
	p := r.proxy(tunnels)
	r.start(p.addr())
	n := 0
	for _, test := range []struct{ name, send, want, code string }{
		{"no password offered", noAuthOffer + socksConnect("example.test", 443), "\x05\xff", "auth_required"},
		{"nothing offered", "\x05\x00", "\x05\xff", "auth_required"},
		{"only GSSAPI", "\x05\x01\x01", "\x05\xff", "auth_required"},
		{"wrong password", bothOffer + socksLogin("user1", "wrong"), askPassword + "\x01\x01", "auth_required"},
		{"unknown user", bothOffer + socksLogin("eve", "s3cret"), askPassword + "\x01\x01", "auth_required"},
		{"empty", bothOffer + socksLogin("", ""), askPassword + "\x01\x01", "auth_required"},
		{"bad routing key", bothOffer + socksLogin("user1-contry-de", "s3cret") + socksConnect("example.test", 443), askPassword + letIn + socksRefusal(2), "bad_routing_key"},
		{"bad routing key, wrong password", bothOffer + socksLogin("user1-contry-de", "x"), askPassword + "\x01\x01", "auth_required"},
		{"wrong version of the password", bothOffer + "\x05" + socksLogin("user1", "s3cret")[1:], askPassword + socksRefusal(1), "bad_request"},
	} {
		c := r.dial()
		c.send(test.send)
		c.expect(test.want)
		c.expectEnd()
		n++
		if x := r.logged(n); x.Code != test.code || x.Kind != "socks5" || x.Reason == "" {
			t.Errorf("%s: logged %+v", test.name, x)
		}
	}
	if all, _ := p.accepted(); all > 0 || strings.Contains(r.log.String(), "s3cret") {
		t.Errorf("%d connections to the proxy; log: %s", all, r.log.String())
	}
}

func TestWhatSOCKS5ClientsAskInVain(t *testing.T) {
	for _, test := range []struct {
		name, ask string
		script    func(*peer) // nil: a port where nobody listens
		reply     byte
		code      string
	}{
		{"BIND", "\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50", tunnels, 7, "bad_request"},
		{"UDP ASSOCIATE", "\x05\x03\x00\x01\x00\x00\x00\x00\x00\x00", tunnels, 7, "bad_request"},
		{"unknown kind of address", "\x05\x01\x00\x02\x7f\x00\x00\x01\x00\x50", tunnels, 8, "bad_request"},
		{"port 0", socksConnect("example.test", 0), tunnels, 8, "bad_request"},
		{"no name", socksConnect("", 80), tunnels, 8, "bad_request"},
		{"a name that would end the head", socksConnect("a\r\nX: y", 80), tunnels, 8, "bad_request"},
		{"a zone", socksConnect("fe80::1%lo", 80), tunnels, 8, "bad_request"},
		{"dead proxy", socksConnect("example.test", 443), nil, 1, "attempts_spent"},
		{"silent proxy", socksConnect("example.test", 443), silent, 6, "timeout"},
		{"proxy wants a password", socksConnect("example.test", 443), answers("HTTP/1.1 407 Auth\r\n\r\n"), 1, "attempts_spent"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.timeouts.Handshake = 50 * time.Millisecond
			r.attempts.Attempts = 1
			addr := ""
			if test.script == nil {
				addr = r.closedPort()
			} else {
				addr = r.proxy(test.script).addr()
			}
			r.start(addr)
			c := r.dial()
			c.send(noAuthOffer)
			c.expect(noAuthTaken)
			c.send(test.ask)
			c.expect(socksRefusal(test.reply))
			c.expectEnd()
			if x := r.logged(1); x.Code != test.code || x.Kind != "socks5" {
				t.Errorf("logged %+v", x)
			}
		})
	}
}

func TestSOCKS5ClientsAreRepeatedAndLimitedAsOthers(t *testing.T) {
	r := newRig(t)
	r.rate = 0.01
	bad, good := r.proxy(answers("HTTP/1.1 502 Bad\r\n\r\n")), r.proxy(tunnels)
	r.start(bad.addr()+preferred, good.addr())
	for i, want := range []string{socksOpened + "x", socksRefusal(1)} {
		c := r.dial()
		c.send(noAuthOffer)
		c.expect(noAuthTaken)
		c.send(socksConnect("example.test", 443) + "x")
		c.expect(want)
		_ = c.Close()
		r.logged(i + 1)
	}
	if first, second := r.logged(1), r.logged(2); first.Status != 200 || len(first.Attempts) != 2 || second.Code != "rate_limited" {
		t.Errorf("logged %+v and %+v", first, second)
	}
}

func TestSOCKS5ToSwivelItselfIsNotAllowed(t *testing.T) {
	r := newRig(t)
	r.start(r.proxy(tunnels).addr())
	own := netip.MustParseAddrPort(r.addr)
	r.front.Self = Self{own}
	c := r.dial()
	c.send(noAuthOffer)
	c.expect(noAuthTaken)
	c.send(socksConnect("localhost", int(own.Port())))
	c.expect(socksRefusal(2))
	c.expectEnd()
}

func TestSOCKS5ThatNeverEndsIsTimedOut(t *testing.T) {
	for _, whole := range []string{"\x05\xff" + strings.Repeat("\x00", 254), bothOffer + "\x01\xff" + strings.Repeat("u", 254), noAuthOffer + "\x05\x01\x00\x03\xff" + strings.Repeat("a", 254)} {
		r := newRig(t)
		r.settings.HeaderTimeout = 100 * time.Millisecond
		r.start(r.proxy(tunnels).addr())
		c := r.dial()
		stop := make(chan struct{})
		go drip(c.wire, whole, stop)
		if x := r.logged(1); x.Status != 408 || x.Kind != "socks5" {
			t.Errorf("logged %+v", x)
		}
		close(stop)
		_ = c.Close()
	}
}

func TestOtherProtocolsAreToldThatTheyAreWrong(t *testing.T) {
	r := newRig(t)
	r.start(r.proxy(tunnels).addr())
	c := r.dial()
	c.send("\x04\x01\x01\xbb\x7f\x00\x00\x01\x00")
	c.expect("\x00\x5b\x00\x00\x00\x00\x00\x00")
	c.expectEnd()
	if x := r.logged(1); !strings.Contains(x.Reason, "SOCKS4") || x.Kind != "socks4" {
		t.Errorf("logged %+v", x)
	}
}
