package forward_test

import (
	"strings"
	"testing"
)

const expecting = "PUT http://site.test/x HTTP/1.1\r\nHost: site.test\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"

func TestExpectationReachesTheTargetAndItsAnswerTheClient(t *testing.T) {
	inAllDeliveries(t, func(t *testing.T, by delivery) {
		s := serve(t, by, func(p *peer) {
			if head, _ := p.head(); head != expecting {
				t.Errorf("the upstream received %q", head)
			}
			p.send("HTTP/1.1 100 Continue\r\n\r\n", "")
			body := make([]byte, 5)
			_, _ = p.br.Read(body[:1])
			_, _ = p.br.Read(body[1:])
			p.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "hi")
			p.request()
			p.send("HTTP/1.1 204 No Content\r\n\r\n", "")
		})
		r := newRig(t, limits{}, s.spec())
		c := r.dial()
		c.write(expecting)
		if head := c.head(); head != "HTTP/1.1 100 Continue\r\n\r\n" {
			t.Errorf("the client got %q", head)
		}
		c.write("hello")
		if head, body := c.response(); status(head) != "200" || body != "hi" || field(head, "Connection") != "" {
			t.Errorf("the client got %q %q", head, body)
		}
		c.serves()
		if x := r.exchange(); x.Up != 5 {
			t.Errorf("the log says %d bytes went up", x.Up)
		}
	})
}

func TestTargetRefusesAnExpectation(t *testing.T) {
	inAllDeliveries(t, func(t *testing.T, by delivery) {
		s := serve(t, by, func(p *peer) {
			p.head()
			p.send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n", "no")
			if extra, _ := p.br.ReadString(0); extra != "" {
				t.Errorf("the upstream received %q", extra)
			}
		})
		r := newRig(t, limits{}, s.spec())
		c := r.dial()
		c.write(expecting)
		if head, body := c.response(); status(head) != "401" || body != "no" || field(head, "Connection") != "close" {
			t.Errorf("the client got %q %q", head, body)
		}
		c.closes()
		s.waitClosed()
		if got := r.verdicts(); got != "response success" {
			t.Errorf("the verdict is %q", got)
		}
	})
}

func TestTargetIgnoresAnExpectation(t *testing.T) {
	s := serve(t, normal, answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "hi"))
	r := newRig(t, limits{}, s.spec())
	c := r.dial()
	c.write(expecting)
	s.wait("the upstream is connected", func() bool { return s.accepted == 1 })
	c.write("hello") // as clients do after a while
	if head, _ := c.response(); status(head) != "200" {
		t.Errorf("the client got %q", head)
	}
	if got := s.requests()[0]; !strings.HasSuffix(got, "hello") {
		t.Errorf("the upstream received %q", got)
	}
	c.serves()
}
