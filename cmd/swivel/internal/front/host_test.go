package front

import (
	"net/http"
	"testing"
)

// An empty Host field is what a client sends whose URL has no host (RFC 9112 section
// 3.2): with a target that has one, something on the way is wrong about it.
func TestEmptyHostFieldIsRefused(t *testing.T) {
	for _, field := range []string{"Host:\r\n", "Host: \t\r\n"} {
		r := newRig(t)
		p := r.proxy(answers("HTTP/1.1 204 No Content\r\n\r\n"))
		r.start(p.addr())
		client := r.dial()
		client.send("GET http://site.test:81/ HTTP/1.1\r\n" + field + "\r\n")
		resp, err := http.ReadResponse(client.br, nil)
		if err != nil || resp.StatusCode != 400 {
			t.Errorf("%q: %v %v", field, resp, err)
		}
		if n, _ := p.asked(); n > 0 {
			t.Errorf("%q: the proxy was asked %d times", field, n)
		}
	}
}

// RFC 9112 section 3.2 leaves no choice about a second one, whatever the method.
func TestCONNECTWithTwoHostFieldsWasServed(t *testing.T) {
	r := newRig(t)
	p := r.proxy(tunnels)
	r.start(p.addr())
	c := r.dial()
	c.send("CONNECT site.test:443 HTTP/1.1\r\nHost: site.test:443\r\nHost: site.test:443\r\n\r\n")
	resp, body := c.reply()
	if resp.StatusCode != 400 {
		t.Errorf("status %s", resp.Status)
	}
	checkRefusal(t, resp, body, "bad_request")
	if all, _ := p.accepted(); all != 0 {
		t.Errorf("the proxy saw %d connections", all)
	}
}
