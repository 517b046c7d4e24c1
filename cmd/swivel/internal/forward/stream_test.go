package forward_test

import (
	"fmt"
	"strings"
	"testing"

	"swivel/breaker"
)

// Each piece has to come before the server is allowed to send the next one.
func TestPiecesOfAStreamArePassedOnAtOnce(t *testing.T) {
	for name, head := range map[string]string{
		"events":             "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
		"chunks of any type": "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
		"until the end":      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n",
		"a known length":     "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			inAllDeliveries(t, func(t *testing.T, by delivery) {
				chunked := strings.Contains(head, "chunked")
				next := make(chan struct{})
				s := serve(t, by, func(p *peer) {
					p.request()
					p.send(head, "")
					for i := range 5 {
						if _, more := <-next; !more {
							return
						}
						p.send(piece(i, chunked), "")
					}
					if chunked {
						p.send("0\r\n\r\n", "")
					}
				})
				r := newRig(t, limits{}, s.spec())
				c := r.dial()
				defer close(next)
				c.write(crlf(get + "\n"))
				c.head()
				for i := range 5 {
					next <- struct{}{}
					for got := ""; len(got) < 8; { // a piece may come as several chunks
						if chunked {
							got += c.chunk()
						} else {
							got += c.take(8)
						}
						if !strings.HasPrefix(piece(i, false), got) {
							t.Fatalf("instead of piece %d there came %q", i, got)
						}
					}
				}
			})
		})
	}
}

func piece(i int, chunked bool) string {
	text := fmt.Sprintf("event %d\n", i)
	if chunked {
		return "8\r\n" + text + "\r\n"
	}
	return text
}

// chunk reads one chunk.
func (c *client) chunk() string {
	c.t.Helper()
	var n int
	if _, err := fmt.Fscanf(c.br, "%x\r\n", &n); err != nil {
		c.t.Fatal("client:", err)
	}
	data := c.take(n)
	c.take(2)
	return data
}

// A client must never take a part for the whole, whatever it uses to tell the
// end of a body.
func TestCutResponseIsSeenByTheClient(t *testing.T) {
	for name, head := range map[string]string{
		"length": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc",
		"chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
		"inside": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
		"broken": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nxyz\r\n",
	} {
		for _, version := range []string{"1.0", "1.1"} {
			t.Run(name+" to HTTP/"+version, func(t *testing.T) {
				inAllDeliveries(t, func(t *testing.T, by delivery) {
					s := serve(t, by, func(p *peer) {
						p.request()
						p.send(head, "")
					})
					r := newRig(t, limits{}, s.spec())
					c := r.dial()
					c.write(strings.Replace(crlf(get+"\n"), "HTTP/1.1", "HTTP/"+version, 1))
					if rest, err := c.rest(); err == nil {
						t.Errorf("the client took %q for complete", rest)
					}
					if got := r.verdicts(); got != "response_cut ignored" {
						t.Errorf("the verdict is %q", got)
					}
					if r.state(0) != breaker.Closed {
						t.Error("one cut body opened the breaker")
					}
				})
			})
		}
	}
}

func TestResetInsideABodyWithoutLengthIsSeenByTheClient(t *testing.T) {
	got := make(chan struct{})
	s := serve(t, normal, func(p *peer) {
		p.request()
		p.send("HTTP/1.1 200 OK\r\n\r\n", "abc")
		<-got
		p.abort()
	})
	r := newRig(t, limits{}, s.spec())
	c := r.dial()
	c.write(crlf(get + "\n"))
	c.head()
	c.take(3)
	close(got)
	if rest, err := c.rest(); err == nil {
		t.Errorf("the client got an orderly end behind %q", rest)
	}
}
