package forward_test

import (
	"strings"
	"testing"

	"swivel/breaker"
	"swivel/pool/upstream/listentest"
)

// refused checks that the head is a refusal of ours that ends the connection.
func (c *client) refused(status, code string) {
	c.t.Helper()
	head, body := c.response()
	switch {
	case !strings.HasPrefix(head, "HTTP/1.1 "+status+" "), field(head, "X-Swivel-Error") != code:
		c.t.Errorf("want %s %s, got %q", status, code, head)
	case field(head, "Connection") != "close", body == "":
		c.t.Errorf("the refusal is incomplete: %q %q", head, body)
	}
	c.closes()
}

func TestDoubtfulRequestsNeverLeave(t *testing.T) {
	const smuggled = "GET http://site.test/smug HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, request := range map[string]string{
		"Content-Length and Transfer-Encoding": "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"two lengths":                          "Content-Length: 3\r\nContent-Length: 8\r\n\r\nabcdefgh",
		"a signed length":                      "Content-Length: +3\r\n\r\nabc",
		"a folded field":                       "X-A: 1\r\n b\r\n\r\n",
		"a blank before the colon":             "X-A : 1\r\n\r\n",
		"a bare line feed":                     "X-A: 1\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, normal, answering("HTTP/1.1 204 No Content\r\n\r\n", ""))
			r := newRig(t, limits{}, s.spec())
			c := r.dial()
			c.write("POST http://site.test/ HTTP/1.1\r\nHost: site.test\r\n" + request + smuggled)
			c.refused("400", "bad_request")
			if n := s.connections(); n != 0 {
				t.Errorf("%d connections to the upstream", n)
			}
		})
	}
}

func TestMalformedChunksAreTheClientsFault(t *testing.T) {
	for name, body := range map[string]string{
		"a size that is no number": "3\r\nabc\r\nxyz\r\n",
		"a negative size":          "-1\r\n",
		"data beyond its size":     "3\r\nabcd\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, normal, func(p *peer) { p.untilClosed() })
			r := newRig(t, limits{}, s.spec())
			c := r.dial()
			c.write(crlf(post+"Transfer-Encoding: chunked\n\n") + body)
			c.refused("400", "bad_request")
			if got := r.verdicts(); got != "client_gone ignored" {
				t.Errorf("the verdict is %q", got)
			}
			s.waitClosed()
		})
	}
}

// A response that two readers could understand differently is not passed on,
// and neither it nor the connection it came on may reach another request.
func TestDoubtfulResponsesAreDiscarded(t *testing.T) {
	for name, response := range map[string]string{
		"two lengths":             "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 8\r\n\r\nabcdefgh",
		"a status of four signs":  "HTTP/1.1 204x Odd\r\n\r\n",
		"a status with a colon":   "HTTP/1.1 404: Not Found\r\nContent-Length: 0\r\n\r\n",
		"another coding":          "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"an upgrade nobody wants": "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
		"another protocol":        "220 mail.test ESMTP\r\n",

		"a control byte before chunked":    "HTTP/1.1 200 OK\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
		"a control byte behind the length": "HTTP/1.1 200 OK\r\nContent-Length: 2\x0b\r\n\r\nhi",
		"a length behind a bare CR":        "HTTP/1.1 200 OK\r\nX: a\rContent-Length: 9\r\nContent-Length: 2\r\n\r\nhi",
		"an odd byte in a name":            "HTTP/1.1 200 OK\r\nTransfer\xad-Encoding: chunked\r\nContent-Length: 2\r\n\r\nhi",
		"a NUL in a value":                 "HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 2\r\n\r\nhi",
		"a bare CR in a response between":  "HTTP/1.1 103 Early Hints\r\nX: a\rContent-Length: 9\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
		"a control byte in Connection":     "HTTP/1.1 200 OK\r\nConnection: close\x01\r\nContent-Length: 2\r\n\r\nhi",
	} {
		t.Run(name, func(t *testing.T) {
			inAllDeliveries(t, func(t *testing.T, by delivery) {
				s := serve(t, by, func(p *peer) {
					p.request()
					p.send(response, "")
					p.untilClosed()
				})
				r := newRig(t, limits{}, s.spec())
				c := r.dial()
				c.write(crlf(get + "\n"))
				c.refused("502", "attempts_spent")
				s.waitClosed()
				if n := len(s.requests()); n != s.connections() {
					t.Errorf("%d requests on %d connections", n, s.connections())
				}
				if r.state(0) != breaker.Closed {
					t.Error("the proxy is blamed for the target's nonsense")
				}
			})
		})
	}
}

func TestOddlyFramedResponseEndsItsConnection(t *testing.T) {
	const odd = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
	s := serve(t, coalesced, answering(odd, "2\r\nhi\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"))
	r := newRig(t, limits{}, s.spec())
	c := r.dial()
	for range 2 {
		c.write(crlf(get + "\n"))
		if head, body := c.response(); body != "hi" || field(head, "Content-Length") != "" {
			t.Errorf("got %q %q", head, body)
		}
	}
	if n := s.connections(); n != 2 {
		t.Errorf("%d upstream connections for 2 requests", n)
	}
}

func TestMendedResponseIsPassedOnAndItsConnectionWasReused(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, c := range map[string]struct{ head, body string }{
		"a control byte in a value": {"HTTP/1.1 200 OK\r\nX: a\x1bb\r\nContent-Length: 2\r\n\r\n", "hi"},
		"a line without a colon":    {"HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 2\r\n\r\n", "hi"},
		"bare line feeds":           {"HTTP/1.1 200 OK\nContent-Length: 2\n\n", "hi"},
		"a mended interim response": {"HTTP/1.1 103 Early Hints\r\nX : a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "hi"},
		"a malformed trailer":       {chunked, "2\r\nhi\r\n0\r\nX: a\rY: b\r\n\r\n"},
		"a padded size":             {chunked, "2 \r\nhi\r\n0\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, normal, answering(c.head, c.body))
			r := newRig(t, limits{}, s.spec())
			client := r.dial()
			for range 2 {
				client.write(crlf(get + "\n"))
				head, body := client.response()
				if strings.HasPrefix(head, "HTTP/1.1 103 ") {
					head, body = client.response()
				}
				if body != "hi" || !strings.HasPrefix(head, "HTTP/1.1 200 ") {
					t.Errorf("got %q %q", head, body)
				}
			}
			if n := s.connections(); n != 2 {
				t.Errorf("%d upstream connections for 2 requests", n)
			}
		})
	}
}

func TestLargeHeadsPassAndTooLargeOnesAreNamed(t *testing.T) {
	cookies := "HTTP/1.1 200 OK\r\n" + strings.Repeat("Set-Cookie: "+strings.Repeat("c", 2000)+"\r\n", 100)
	t.Run("within the limit", func(t *testing.T) {
		s := serve(t, normal, answering(cookies+"Content-Length: 2\r\n\r\n", "hi"))
		r := newRig(t, limits{}, s.spec())
		c := r.dial()
		request := crlf(get + "Cookie: " + strings.Repeat("x", 60<<10) + "\n" + strings.Repeat("X-Many: "+strings.Repeat("y", 1000)+"\n", 140) + "\n")
		c.write(request)
		if head, body := c.response(); head+body != cookies+"Content-Length: 2\r\n\r\nhi" {
			t.Errorf("the response came as %d bytes", len(head+body))
		}
		if got := s.requests()[0]; got != request {
			t.Errorf("the request arrived as %d bytes instead of %d", len(got), len(request))
		}
		c.serves()
	})
	t.Run("request beyond it", func(t *testing.T) {
		r := newRig(t, limits{}, spec(0, listentest.Reserved(t, "127.0.0.1")))
		c := r.dial()
		c.write(crlf(get + "Cookie: " + strings.Repeat("x", 256<<10)))
		c.refused("431", "bad_request")
	})
	t.Run("response beyond it", func(t *testing.T) {
		s := serve(t, normal, answering(strings.Repeat(cookies, 2)+"\r\n", ""))
		r := newRig(t, limits{}, s.spec())
		c := r.dial()
		c.write(crlf(get + "\n"))
		c.refused("502", "attempts_spent")
		if r.state(0) != breaker.Closed {
			t.Error("the proxy is blamed for the target's head")
		}
	})
}

func TestAbsoluteHTTPSIsToldToUseCONNECT(t *testing.T) {
	r := newRig(t, limits{}, spec(0, listentest.Reserved(t, "127.0.0.1")))
	c := r.dial()
	c.write("GET https://site.test:443/a HTTP/1.1\r\nHost: site.test\r\n\r\n")
	head, body := c.response()
	if status(head) != "400" || !strings.Contains(body, "CONNECT") {
		t.Errorf("got %q %q", head, body)
	}
	c.closes()
}
