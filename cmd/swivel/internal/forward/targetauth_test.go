package forward_test

import (
	"strings"
	"testing"

	"swivel/breaker"
	"swivel/pool"
)

// socks4 is a SOCKS4 proxy behind which play is the server.
func socks4(play func(*peer)) func(*peer) {
	return func(p *peer) {
		if _, err := p.br.Discard(8); err != nil {
			return
		}
		for range 2 { // the user, and the name of the target
			if _, err := p.br.ReadString(0); err != nil {
				return
			}
		}
		p.send("\x00\x5a\x00\x00\x00\x00\x00\x00", "")
		play(p)
	}
}

// A client takes any 407 for swivel's, and would answer with its password, or ask
// for one.
func TestTargetThatAnswers407IsNotTakenForSwivelThatAsksForAPassword(t *testing.T) {
	answer := answering("HTTP/1.1 407 Who are you\r\nProxy-Authenticate: Basic realm=\"site\"\r\nContent-Length: 2\r\n\r\n", "no")
	for name, x := range map[string]struct {
		scheme  pool.Scheme
		play    func(*peer)
		request string
	}{
		"behind SOCKS":                   {pool.SOCKS4, socks4(answer), crlf(get + "\n")},
		"behind SOCKS, a streamed body":  {pool.SOCKS4, socks4(answer), crlf(post + "Transfer-Encoding: chunked\n\n1\nx\n0\n\n")},
		"in the tunnel of an HTTP proxy": {pool.HTTP, tunnelling(answer), upgrading},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, normal, x.play)
			r := newRig(t, limits{}, spec(x.scheme, s.addr))
			c := r.dial()
			c.write(x.request)
			head, body := c.response()
			if status(head) != "502" || field(head, "X-Swivel-Error") != "target_auth" || strings.Contains(head, "Authenticate") {
				t.Errorf("the client got %q %q", head, body)
			}
			if got := r.verdicts(); got != "response success" || r.state(0) != breaker.Closed {
				t.Errorf("the verdict on the proxy is %q, %v", got, r.state(0))
			}
		})
	}
}

// What comes through a tunnel is the server's, whatever it bears: a site must not
// get proxies blamed by answering as they would.
func TestServerInATunnelCannotSpeakForTheProxy(t *testing.T) {
	s := serve(t, normal, tunnelling(answering("HTTP/1.1 402 Pay\r\nX-Squid-Error: ERR_ACCESS_DENIED 0\r\nContent-Length: 2\r\n\r\n", "no")))
	r := newRig(t, limits{}, s.spec())
	c := r.dial()
	c.write(upgrading)
	if head, _ := c.response(); status(head) != "402" {
		t.Errorf("the client got %q", head)
	}
	if got := r.verdicts(); got != "response success" {
		t.Errorf("the verdict is %q", got)
	}
}
