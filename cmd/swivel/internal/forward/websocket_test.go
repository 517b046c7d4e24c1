package forward_test

import (
	"strings"
	"testing"

	"swivel/pool"
)

const (
	upgrading = "GET http://site.test/ws?a=1 HTTP/1.1\r\nHost: site.test\r\nupgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Key: k\r\nSec-WebSocket-Version: 13\r\n\r\n"
	// The server is asked through a tunnel: in origin-form.
	upgradeAsked = "GET /ws?a=1 HTTP/1.1\r\nHost: site.test\r\nupgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Key: k\r\nSec-WebSocket-Version: 13\r\n\r\n"
	switching    = "HTTP/1.1 101 Switching Protocols\r\nUPGRADE: websocket\r\nconnection: upgrade\r\nSec-WebSocket-Accept: a\r\n\r\n"
)

// tunnelling is an HTTP proxy behind whose CONNECT play is the server.
func tunnelling(play func(*peer)) func(*peer) {
	return func(p *peer) {
		if head, ok := p.head(); !ok || !strings.HasPrefix(head, "CONNECT site.test:80 HTTP/1.1\r\n") {
			p.send("HTTP/1.1 405 No\r\n\r\n", "")
			return
		}
		p.send("HTTP/1.1 200 OK\r\n\r\n", "")
		play(p)
	}
}

func TestWebsocketIsRelayed(t *testing.T) {
	for name, request := range map[string]string{
		"http target": upgrading,
		"ws target":   strings.Replace(upgrading, "http:", "ws:", 1),
	} {
		t.Run(name, func(t *testing.T) {
			inAllDeliveries(t, func(t *testing.T, by delivery) {
				s := serve(t, by, tunnelling(func(p *peer) {
					p.request()
					p.send(switching, "first")
					p.echo()
				}))
				r := newRig(t, limits{}, s.spec())
				c := r.dial()
				c.write(request + "early") // of the client, too
				if head := c.head(); head != switching {
					t.Errorf("the client got %q", head)
				}
				if got := c.take(10); got != "firstearly" {
					t.Errorf("the client got %q", got)
				}
				c.write("more")
				if got := c.take(4); got != "more" {
					t.Errorf("the client got %q", got)
				}
				if got := s.requests()[0]; got != upgradeAsked {
					t.Errorf("the server was asked %q", got)
				}
				_ = c.CloseWrite()
				c.closes()
				s.waitClosed()
				if x := r.exchange(); x.Status != 101 || x.Up != 9 || x.Down != 14 {
					t.Errorf("the log says %+v", x)
				}
			})
		})
	}
}

// A list of protocols is an offer of each of them.
func TestWebsocketIsSwitchedToWhenItIsOneOfSeveral(t *testing.T) {
	s := serve(t, normal, tunnelling(func(p *peer) {
		p.request()
		p.send(switching, "")
		p.echo()
	}))
	r := newRig(t, limits{}, s.spec())
	c := r.dial()
	c.write(strings.Replace(upgrading, "WebSocket\r\n", "foo, websocket\r\n", 1) + "ping")
	if head := c.head(); head != switching {
		t.Errorf("the client got %q", head)
	}
	if got := c.take(4); got != "ping" {
		t.Errorf("the client got %q", got)
	}
	if got := s.requests()[0]; !strings.Contains(got, "\r\nupgrade: foo, websocket\r\nConnection: keep-alive, Upgrade\r\n") {
		t.Errorf("the server was asked %q", got)
	}
}

// Other protocols are not switched to: the offer is ignored, and the request served.
func TestUpgradeToAnotherProtocolIsNotPassedOn(t *testing.T) {
	s := serve(t, normal, answering("HTTP/1.1 204 No Content\r\n\r\n", ""))
	r := newRig(t, limits{}, s.spec())
	c := r.dial()
	for _, to := range []string{"tcp", "h2c", "websocket2, h2c"} {
		c.write(strings.Replace(upgrading, "WebSocket\r\n", to+"\r\n", 1))
		if head := c.head(); status(head) != "204" {
			t.Errorf("the client got %q", head)
		}
	}
	for _, got := range s.requests() {
		if strings.Contains(strings.ToLower(got), "upgrade") || !strings.HasPrefix(got, "GET http://site.test/ws?a=1 HTTP/1.1\r\n") {
			t.Errorf("the proxy was asked %q", got)
		}
	}
}

func TestEndOfAWebsocketServerEndsItsClient(t *testing.T) {
	for name, end := range map[string]func(*peer){
		"by close": func(p *peer) {},
		"by reset": (*peer).abort,
	} {
		t.Run(name, func(t *testing.T) {
			joined := make(chan struct{})
			s := serve(t, normal, tunnelling(func(p *peer) {
				p.request()
				p.send(switching, "")
				<-joined
				end(p)
			}))
			r := newRig(t, limits{}, s.spec())
			c := r.dial()
			c.write(upgrading)
			c.head()
			close(joined)
			_, _ = c.rest() // an end of either kind
			_ = c.Close()
			r.exchange()
		})
	}
}

func TestEndOfAWebsocketClientEndsItsServer(t *testing.T) {
	s := serve(t, normal, tunnelling(func(p *peer) {
		p.request()
		p.send(switching, "")
		p.untilClosed()
	}))
	r := newRig(t, limits{}, s.spec())
	c := r.dial()
	c.write(upgrading)
	c.head()
	_ = c.Close()
	s.waitClosed()
	r.exchange()
}

func TestRefusedWebsocketIsAnOrdinaryResponse(t *testing.T) {
	inAllDeliveries(t, func(t *testing.T, by delivery) {
		s := serve(t, by, tunnelling(answering("HTTP/1.1 400 Bad\r\nContent-Length: 2\r\n\r\n", "no")))
		r := newRig(t, limits{}, s.spec())
		c := r.dial()
		for range 2 { // the client's connection goes on
			c.write(upgrading)
			if head, body := c.response(); status(head) != "400" || body != "no" {
				t.Errorf("the client got %q %q", head, body)
			}
		}
	})
}

// A connection that a websocket has outlived must have no deadline left on it
// from the time when it was an exchange.
func TestWebsocketOutlivesTheLimitsOfItsHandshake(t *testing.T) {
	const limit = 300e6
	s := serve(t, normal, tunnelling(func(p *peer) {
		p.request()
		p.send(switching, "")
		p.echo()
	}))
	r := newRig(t, limits{response: limit, handshake: limit, exchange: limit}, s.spec())
	c := r.dial()
	c.write(upgrading)
	c.head()
	late := r.dial() // times out as the deadline of the websocket would
	late.write(crlf(post + "Content-Length: 5\n\n"))
	late.refused("408", "bad_request")
	c.write("ping")
	if got := c.take(4); got != "ping" {
		t.Errorf("the client got %q", got)
	}
}

func TestSOCKSProxyCarriesRequestsInOriginForm(t *testing.T) {
	inAllDeliveries(t, func(t *testing.T, by delivery) {
		s := serve(t, by, func(p *peer) {
			_, _ = p.br.Discard(3) // greeting: version, one method
			p.send("\x05\x00", "")
			_, _ = p.br.Discard(5 + len("site.test") + 2)
			p.send("\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50", "")
			answering("HTTP/1.1 401 Of the site\r\nContent-Length: 2\r\n\r\n", "hi")(p)
		})
		r := newRig(t, limits{}, spec(pool.SOCKS5, s.addr))
		c := r.dial()
		for range 2 {
			c.write("GET http://site.test:80/a%2F?q HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic eDp5\r\nX-A: 1\r\n\r\n")
			if head, body := c.response(); status(head) != "401" || body != "hi" {
				t.Errorf("the client got %q %q", head, body)
			}
		}
		for _, got := range s.requests() {
			if got != "GET /a%2F?q HTTP/1.1\r\nHost: site.test:80\r\nX-A: 1\r\n\r\n" {
				t.Errorf("the server received %q", got)
			}
		}
		if n := s.connections(); n != 1 {
			t.Errorf("%d connections for 2 requests", n)
		}
	})
}
