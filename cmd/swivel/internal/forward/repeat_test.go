package forward_test

import (
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"swivel/pool"
	"swivel/pool/upstream/listentest"
)

// dying is a proxy that breaks off at some point of a request.
type dying struct {
	name  string
	share int // of the body that it reads before, in percent
	reset bool
}

var deaths = []dying{
	{"before the body", 0, false}, {"before the body by reset", 0, true},
	{"within the body", 50, false}, {"within the body by reset", 50, true},
	{"behind the body", 100, false}, {"behind the body by reset", 100, true},
}

func (d dying) play(p *peer) {
	head, ok := p.head()
	if !ok {
		return
	}
	size, _ := strconv.Atoi(field(head, "Content-Length"))
	_, _ = io.CopyN(io.Discard, p.br, int64(size*d.share/100))
	p.server.note(func() { p.server.got = append(p.server.got, head) })
	if d.reset {
		p.abort()
	}
}

// Whether a proxy that breaks off has passed the request on cannot be known.
func TestPOSTIsSentAtMostOnce(t *testing.T) {
	for _, d := range deaths {
		for _, size := range []int{0, 1 << 10, 10 << 20} {
			t.Run(d.name+", size "+strconv.Itoa(size), func(t *testing.T) {
				dead := serve(t, normal, d.play)
				other := serve(t, normal, d.play)
				r := newRig(t, limits{}, dead.spec(), other.spec())
				c := r.dial()
				c.write(crlf(post + "Content-Length: " + strconv.Itoa(size) + "\n\n"))
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					_, _ = io.WriteString(c, strings.Repeat("x", size)) // may be broken off
				}()
				head, _ := c.response()
				if status(head) != "502" || field(head, "X-Swivel-Error") != "attempts_spent" {
					t.Errorf("the client got %q", head)
				}
				_ = c.Close()
				<-sent
				if n := len(dead.requests()) + len(other.requests()); n != 1 {
					t.Errorf("the POST was sent %d times", n)
				}
				if got := r.verdicts(); got != "response_closed ignored" {
					t.Errorf("the verdict is %q", got)
				}
			})
		}
	}
}

// That a POST is not repeated does not hide why it failed.
func TestUnrepeatedPOSTIsToldWhatItsAttemptRanInto(t *testing.T) {
	const unsafe = "; the request was sent, and it is not safe to repeat"
	for _, c := range []struct {
		name       string
		play       func(*peer)
		text, kind string
	}{
		{"credentials rejected", answering("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n", ""),
			"had the credentials in the list rejected by the proxy", "proxy_configuration_error"},
		{"the proxy names the target", answering("HTTP/1.1 503 No\r\nX-Squid-Error: ERR_DNS_FAIL 0\r\nContent-Length: 0\r\n\r\n", ""),
			"did not reach the target", "destination_unavailable"},
		{"throttled by the proxy", answering("HTTP/1.1 429 No\r\nProxy-Status: p; error=http_request_denied\r\nContent-Length: 0\r\n\r\n", ""),
			"met a proxy that wants a pause", "destination_unavailable"},
		{"hung up", deaths[4].play, "met a proxy that hung up", "connection_terminated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, normal, c.play)
			r := newRig(t, limits{}, s.spec())
			client := r.dial()
			client.write(crlf(post + "Content-Length: 1\n\nx"))
			head, body := client.response()
			if want := "1 attempt failed: 1 " + c.text + unsafe; !strings.Contains(body, want) {
				t.Errorf("the text is %q", body)
			}
			if got := field(head, "Proxy-Status"); status(head) != "502" || got != "swivel; error="+c.kind {
				t.Errorf("the client got %q", head)
			}
			if n := len(s.requests()); n != 1 {
				t.Errorf("the POST was sent %d times", n)
			}
		})
	}
}

// A body is sent again whole or not at all.
func TestPUTIsRepeatedOnlyWithItsWholeBody(t *testing.T) {
	for _, size := range []int{0, 1 << 10, 64 << 10, 1 << 20} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			body := strings.Repeat("x", size)
			var first atomic.Bool
			play := func(p *peer) {
				if first.CompareAndSwap(false, true) {
					deaths[3].play(p)
					return
				}
				answering("HTTP/1.1 204 No Content\r\n\r\n", "")(p)
			}
			a, b := serve(t, normal, play), serve(t, normal, play)
			r := newRig(t, limits{}, a.spec(), b.spec())
			c := r.dial()
			head := crlf("PUT http://site.test/ HTTP/1.1\nHost: site.test\nContent-Length: " + strconv.Itoa(size) + "\n\n")
			c.write(head)
			go func() { _, _ = io.WriteString(c, body) }()
			want := "204"
			if size > 64<<10 {
				want = "502"
			}
			if head := c.head(); status(head) != want {
				t.Errorf("the client got %q", head)
			}
			all := append(a.requests(), b.requests()...)
			if want == "502" && len(all) != 1 || want == "204" && (len(all) != 2 || all[0] != head+body && all[1] != head+body) {
				t.Errorf("%d requests were sent", len(all))
			}
		})
	}
}

// As long as nothing was sent, any request may go elsewhere.
func TestPOSTMovesOnFromAProxyThatCannotBeReached(t *testing.T) {
	for _, size := range []int{10, 1 << 20} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			s := serve(t, normal, answering("HTTP/1.1 204 No Content\r\n\r\n", ""))
			mute := serve(t, normal, func(p *peer) { // a SOCKS proxy that hangs up
				_, _ = p.br.Peek(1)
			})
			r := newRig(t, limits{}, s.spec(), spec(pool.HTTP, listentest.Reserved(t, "127.0.0.1")), spec(pool.SOCKS5, mute.addr), spec(pool.SOCKS4, mute.addr))
			for range 5 {
				c := r.dial()
				c.write(crlf(post + "Content-Length: " + strconv.Itoa(size) + "\n\n"))
				c.write(strings.Repeat("x", size))
				if head := c.head(); status(head) != "204" {
					t.Errorf("the client got %q", head)
				}
			}
			if n := len(s.requests()); n != 5 {
				t.Errorf("5 POSTs arrived %d times", n)
			}
		})
	}
}

func TestGETIsRepeatedOnOtherProxiesUntilAttemptsAreSpent(t *testing.T) {
	var specs []*pool.Spec
	var servers []*server
	for range 8 {
		s := serve(t, normal, deaths[0].play)
		servers = append(servers, s)
		specs = append(specs, s.spec())
	}
	r := newRig(t, limits{}, specs...)
	c := r.dial()
	c.write(crlf(get + "\n"))
	c.refused("502", "attempts_spent")
	total := 0
	for _, s := range servers {
		n := len(s.requests())
		if n > 1 {
			t.Errorf("a proxy was tried %d times", n)
		}
		total += n
	}
	if total != 5 {
		t.Errorf("%d attempts instead of 5", total)
	}
}

// A proxy that hung up on an idle connection has done nothing wrong, even if it
// does so just as the next request is sent.
func TestStaleConnectionIsNobodysFault(t *testing.T) {
	s := serve(t, normal, func(p *peer) {
		p.request()
		p.send("HTTP/1.1 204 No Content\r\n\r\n", "")
		if p.index == 0 {
			p.head() // the second request: no answer
		} else {
			answering("HTTP/1.1 204 No Content\r\n\r\n", "")(p)
		}
	})
	r := newRig(t, limits{}, s.spec())
	c := r.dial()
	for range 3 {
		c.write(crlf(get + "\n"))
		c.head()
		if got := r.verdicts(); got != "response success" {
			t.Errorf("the verdict is %q", got)
		}
	}
	if n := s.connections(); n != 2 {
		t.Errorf("%d connections", n)
	}
}
