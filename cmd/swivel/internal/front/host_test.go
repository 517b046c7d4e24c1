package front

import (
	"net/http"
	"strings"
	"testing"
)

// The target is in the request line, and a Host field that says nothing does not
// contradict it (RFC 9112 section 3.2.2: a proxy ignores the field).
func TestEmptyHostFieldWasRefused(t *testing.T) {
	for _, field := range []string{"Host:\r\n", "Host: \t\r\n"} {
		r := newRig(t)
		p := r.proxy(answers("HTTP/1.1 204 No Content\r\n\r\n"))
		r.start(p.addr())
		client := r.dial()
		client.send("GET http://site.test:81/ HTTP/1.1\r\n" + field + "\r\n")
		resp, err := http.ReadResponse(client.br, nil)
		if err != nil || resp.StatusCode != 204 {
			t.Fatalf("%q: %v %v", field, resp, err)
		}
		if _, head := p.asked(); !strings.Contains(head, "Host: site.test:81\r\n") {
			t.Errorf("the proxy was asked %q", head)
		}
	}
}
