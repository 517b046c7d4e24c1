package forward_test

import (
	"strconv"
	"strings"
	"testing"
)

const busy = "HTTP/1.1 503 Service Unavailable\r\nDate: now\r\nServer: o\r\nContent-Length: 4\r\n\r\n"

func TestStatusThatIsNotWantedIsAskedForElsewhere(t *testing.T) {
	for _, first := range []string{"", "x"} { // a body that is held changes nothing
		bad := serve(t, normal, answering(busy, "busy"))
		good := serve(t, normal, answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "hi"))
		r := newRig(t, limits{retries: []int{500, 503}}, bad.spec(), good.spec())
		c := r.dial()
		for range 20 {
			c.write(crlf("PUT http://site.test/ HTTP/1.1\nHost: site.test\nContent-Length: " + strconv.Itoa(len(first)) + "\n\n" + first))
			if head, body := c.response(); status(head) != "200" || body != "hi" {
				t.Errorf("the client got %q and %q", head, body)
			}
			if got := r.verdicts(); got != "response success" && got != "response success, response success" {
				t.Errorf("the verdicts are %q", got)
			}
		}
		if len(bad.requests()) == 0 || len(good.requests()) != 20 {
			t.Errorf("%d and %d requests", len(bad.requests()), len(good.requests()))
		}
	}
}

func TestLastStatusIsPassedOnWhenNobodyElseIsLeft(t *testing.T) {
	a, b := serve(t, normal, answering(busy, "busy")), serve(t, normal, answering(busy, "busy"))
	r := newRig(t, limits{retries: []int{503}}, a.spec(), b.spec())
	c := r.dial()
	for range 3 { // the connections are good for more
		c.write(crlf(get + "\n"))
		if head, body := c.response(); status(head) != "503" || body != "busy" || strings.Contains(head, "X-Swivel-Error") {
			t.Errorf("the client got %q and %q", head, body)
		}
		if got := r.verdicts(); got != "response success, response success" {
			t.Errorf("the verdicts are %q", got)
		}
	}
}

func TestWhatMustNotBeSentTwiceGetsTheFirstStatus(t *testing.T) {
	for name, request := range map[string]string{
		"POST":        post + "Content-Length: 1\n\nx",
		"chunked PUT": "PUT http://site.test/ HTTP/1.1\nHost: site.test\nTransfer-Encoding: chunked\n\n1\nx\n0\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			a, b := serve(t, normal, answering(busy, "busy")), serve(t, normal, answering(busy, "busy"))
			r := newRig(t, limits{retries: []int{503}}, a.spec(), b.spec())
			c := r.dial()
			c.write(crlf(request))
			if head, _ := c.response(); status(head) != "503" {
				t.Errorf("the client got %q", head)
			}
			if n := len(a.requests()) + len(b.requests()); n != 1 {
				t.Errorf("it was sent %d times", n)
			}
		})
	}
}
