package forward_test

import (
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool"
)

// firstIsDue has the first proxy of a pool rest, and be due for a test.
func firstIsDue() func(pool.ID) (breaker.Snapshot, bool) {
	known := false
	return func(pool.ID) (breaker.Snapshot, bool) {
		if known {
			return breaker.Snapshot{}, false
		}
		known = true
		past := time.Now().Add(-time.Minute)
		return breaker.Snapshot{State: breaker.Open, Generation: 2, OpensInRow: 1, Rule: breaker.RuleRun, NextTest: past, LastChange: past}, true
	}
}

const begun = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"

func TestRestingProxyThatCutsABodyShortIsNotTakenForRecovered(t *testing.T) {
	s := serve(t, normal, func(p *peer) {
		p.request()
		p.send(begun, "")
	})
	r := newRig(t, limits{due: true}, s.spec())
	c := r.dial()
	c.write(crlf(get + "\n"))
	if rest, err := c.rest(); err == nil {
		t.Errorf("the client took %q for complete", rest)
	}
	if got := r.verdicts(); got != "response_cut ignored" {
		t.Errorf("the verdict is %q", got)
	}
	if r.state(0) != breaker.Open {
		t.Errorf("the breaker is %v", r.state(0))
	}
}

func TestRestingProxyThatBringsTheWholeBodyIsBack(t *testing.T) {
	s := serve(t, normal, answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "hi"))
	r := newRig(t, limits{due: true}, s.spec())
	c := r.dial()
	c.write(crlf(get + "\n"))
	c.response()
	if got := r.verdicts(); got != "response success" || r.state(0) != breaker.Closed {
		t.Errorf("the verdict is %q, the breaker %v", got, r.state(0))
	}
}

// A stream may last for hours, and nobody else gets to the proxy meanwhile.
func TestTestOfARestingProxyDoesNotLastAsLongAsItsBody(t *testing.T) {
	s := serve(t, normal, func(p *peer) {
		p.request()
		p.send(begun, "")
		p.untilClosed()
	})
	r := newRig(t, limits{due: true, probeBody: 30 * time.Millisecond}, s.spec())
	c := r.dial()
	c.write(crlf(get + "\n"))
	c.head()
	for deadline := time.Now().Add(patience); r.state(0) != breaker.Closed; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the breaker is %v", r.state(0))
		}
	}
}

func TestOvertakenTestThatCutsABodyShortIsNoSuccess(t *testing.T) {
	for name, x := range map[string]struct {
		answer string
		state  breaker.State
	}{
		"cut":   {begun, breaker.Open},
		"whole": {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", breaker.Closed},
	} {
		t.Run(name, func(t *testing.T) {
			served := make(chan struct{})
			slow := serve(t, normal, func(p *peer) {
				p.request()
				<-served
				p.send(x.answer, "")
			})
			good := serve(t, normal, answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "hi"))
			r := newRig(t, limits{due: true, probe: 20 * time.Millisecond}, slow.spec(), good.spec())
			c := r.dial()
			c.write(crlf(get + "\n"))
			if head, body := c.response(); status(head) != "200" || body != "hi" {
				t.Errorf("the client got %q %q", head, body)
			}
			close(served)
			slow.waitClosed()
			for deadline := time.Now().Add(patience); r.state(0) == breaker.HalfOpen; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the test is not settled")
				}
			}
			if r.state(0) != x.state {
				t.Errorf("the breaker is %v, want %v", r.state(0), x.state)
			}
		})
	}
}

func TestTestWhoseStatusIsAskedForElsewhereSucceededWithACutBody(t *testing.T) {
	const head = "HTTP/1.1 503 Service Unavailable\r\nDate: now\r\nServer: o\r\nContent-Length: "
	for name, x := range map[string]struct {
		answer string
		state  breaker.State
	}{
		"cut":   {head + "100\r\n\r\nabc", breaker.Open},
		"whole": {head + "4\r\n\r\nbusy", breaker.Closed},
	} {
		t.Run(name, func(t *testing.T) {
			busy := serve(t, normal, func(p *peer) {
				p.request()
				p.send(x.answer, "")
			})
			good := serve(t, normal, answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "hi"))
			r := newRig(t, limits{due: true, retries: []int{503}}, busy.spec(), good.spec())
			c := r.dial()
			c.write(crlf(get + "\n"))
			if head, body := c.response(); status(head) != "200" || body != "hi" || len(busy.requests()) != 1 {
				t.Errorf("the client got %q %q", head, body)
			}
			for deadline := time.Now().Add(patience); r.state(0) == breaker.HalfOpen; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the test is not settled")
				}
			}
			if r.state(0) != x.state {
				t.Errorf("the breaker is %v, want %v", r.state(0), x.state)
			}
		})
	}
}

func TestTestWhoseStatusNobodyElseBettersSucceededWithACutBody(t *testing.T) {
	s := serve(t, normal, func(p *peer) {
		p.request()
		p.send("HTTP/1.1 503 Service Unavailable\r\nDate: now\r\nServer: o\r\nContent-Length: 100\r\n\r\nabc", "")
	})
	r := newRig(t, limits{due: true, retries: []int{503}}, s.spec())
	c := r.dial()
	c.write(crlf(get + "\n"))
	if rest, err := c.rest(); err == nil {
		t.Errorf("the client took %q for complete", rest)
	}
	if got := r.verdicts(); got != "response_cut ignored" || r.state(0) != breaker.Open {
		t.Errorf("the verdict is %q, the breaker %v", got, r.state(0))
	}
}
