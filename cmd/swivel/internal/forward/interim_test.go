package forward_test

import (
	"sync/atomic"
	"testing"
	"time"
)

const hint = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"

// An attempt that was overtaken goes on when the client has its answer, and the
// connection its next request.
func TestHintOfAnOvertakenAttemptGetsIntoNoOtherResponse(t *testing.T) {
	served := make(chan struct{})
	slow := serve(t, normal, func(p *peer) {
		p.request()
		<-served
		if p.index > 0 {
			p.send("HTTP/1.1 204 No Content\r\n\r\n", "")
			return
		}
		p.send(hint+"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\n", "late")
		p.untilClosed()
	})
	good := serve(t, normal, answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "hi"))
	r := newRig(t, limits{overtake: 20 * time.Millisecond}, slow.spec(), good.spec())
	c := r.dial()
	for range 100 {
		c.write(crlf(get + "\n"))
		if head, body := c.response(); status(head) != "200" || body != "hi" {
			t.Fatalf("the client got %q %q", head, body)
		}
		if len(slow.requests()) > 0 {
			break
		}
	}
	close(served)
	slow.waitClosed()
	c.write(crlf(get + "\n"))
	if head := c.head(); status(head)[0] != '2' {
		t.Errorf("the client got %q", head)
	}
}

// A client that was told to go on is not told again by the next attempt; hints may
// come as often as they like.
func TestContinueIsToldOnceHoweverManyAttemptsThereAre(t *testing.T) {
	const goOn = "HTTP/1.1 100 Continue\r\n\r\n"
	var first atomic.Bool
	play := func(p *peer) {
		p.request()
		if first.CompareAndSwap(false, true) {
			p.send(goOn+hint, "")
			return
		}
		p.send(goOn+goOn+hint+"HTTP/1.1 204 No Content\r\n\r\n", "")
	}
	a, b := serve(t, normal, play), serve(t, normal, play)
	r := newRig(t, limits{}, a.spec(), b.spec())
	c := r.dial()
	c.write(crlf(get + "\n"))
	for _, want := range []string{"100", "103", "103", "204"} {
		if head := c.head(); status(head) != want {
			t.Errorf("the client got %q in place of %s", head, want)
		}
	}
	if got := r.verdicts(); got != "response_closed failure, response success" {
		t.Errorf("the verdicts are %q", got)
	}
}
