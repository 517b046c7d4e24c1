package forward_test

import (
	"io"
	"strings"
	"testing"

	"swivel/breaker"
)

// leaving is how a client goes away.
var leaving = map[string]func(*client){
	"by close": func(c *client) { _ = c.Close() },
	"by reset": func(c *client) { _ = c.tcp.SetLinger(0); _ = c.tcp.Close() },
}

// requests of every kind of body.
var bodies = map[string]string{
	"no body":       "\n",
	"held body":     "Content-Length: 3\n\nabc",
	"streamed body": "Content-Length: 100000\n\n" + strings.Repeat("x", 100000),
	"chunked body":  "Transfer-Encoding: chunked\n\n3\nabc\n0\n\n",
}

func TestClientThatLeavesBeforeTheResponseEndsTheExchange(t *testing.T) {
	for how, leave := range leaving {
		for what, body := range bodies {
			t.Run(what+" "+how, func(t *testing.T) {
				asked := make(chan struct{})
				s := serve(t, normal, func(p *peer) {
					p.request()
					close(asked)
					p.untilClosed()
				})
				r := newRig(t, limits{}, s.spec())
				c := r.dial()
				c.write(crlf(post + body))
				<-asked
				leave(c)
				s.waitClosed()
				if got := r.verdicts(); got != "client_gone ignored" {
					t.Errorf("the verdict is %q", got)
				}
			})
		}
	}
}

// The server is silent when the client leaves, so that writing cannot tell.
func TestClientThatLeavesWithinAResponseEndsTheExchange(t *testing.T) {
	for how, leave := range leaving {
		for what, body := range bodies {
			t.Run(what+" "+how, func(t *testing.T) {
				s := serve(t, normal, func(p *peer) {
					p.request()
					p.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n")
					p.untilClosed()
				})
				r := newRig(t, limits{}, s.spec())
				c := r.dial()
				c.write(crlf(post + body))
				c.head()
				c.chunk()
				leave(c)
				s.waitClosed()
				if got := r.verdicts(); got != "response success" {
					t.Errorf("the verdict is %q", got)
				}
			})
		}
	}
}

func TestClientThatLeavesWithinAStreamIsNoticedByWriting(t *testing.T) {
	s := serve(t, normal, func(p *peer) {
		p.request()
		p.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n", "")
		_, _ = io.CopyN(p, endless{}, 1e9)
	})
	r := newRig(t, limits{}, s.spec())
	c := r.dial()
	c.write(crlf(get + "\n"))
	c.head()
	c.take(1 << 20)
	_ = c.Close()
	s.waitClosed()
	if got := r.verdicts(); got != "response success" {
		t.Errorf("the verdict is %q", got)
	}
}

func TestClientThatLeavesWithinItsBodyIsNotTheProxysFault(t *testing.T) {
	for what, body := range map[string]string{
		"held body":     "Content-Length: 5\n\nabc",
		"streamed body": "Content-Length: 100000\n\nabc",
		"chunked body":  "Transfer-Encoding: chunked\n\n5\nabc",
		"between":       "Transfer-Encoding: chunked\n\n3\nabc\n",
	} {
		for answered := range 2 {
			t.Run(what+[]string{"", " answered"}[answered], func(t *testing.T) {
				s := serve(t, normal, func(p *peer) {
					p.head()
					if answered == 1 {
						p.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "")
					}
					body, complete := readChunks(p.br)
					if complete {
						t.Errorf("the upstream took %q for complete", body)
					}
				})
				r := newRig(t, limits{}, s.spec())
				c := r.dial()
				c.write(crlf(post + body))
				if what != "held body" {
					if answered == 1 {
						c.head()
					}
					s.wait("the upstream is connected", func() bool { return s.accepted == 1 })
				}
				_ = c.Close()
				for _, a := range r.exchange().Attempts {
					if a.Signal != "client_gone" && a.Signal != "response" || a.Outcome == "failure" {
						t.Errorf("the proxy is blamed: %v", a)
					}
				}
				if r.state(0) != breaker.Closed {
					t.Error("the breaker is not closed")
				}
			})
		}
	}
}

// What the client sent behind its request is not taken for its leaving.
func TestClientThatPipelinesHasNotLeft(t *testing.T) {
	asked, answer := make(chan struct{}, 2), make(chan struct{})
	s := serve(t, normal, func(p *peer) {
		for {
			if _, ok := p.request(); !ok {
				return
			}
			asked <- struct{}{}
			<-answer
			p.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "hi")
		}
	})
	r := newRig(t, limits{}, s.spec())
	c := r.dial()
	c.write(crlf(get + "\n"))
	<-asked
	c.write(crlf(get + "\n"))
	close(answer)
	for range 2 {
		if head, _ := c.response(); status(head) != "200" {
			t.Errorf("the client got %q", head)
		}
	}
}
