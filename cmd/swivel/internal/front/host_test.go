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
