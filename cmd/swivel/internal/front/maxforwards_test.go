package front

import (
	"net/http"
	"strings"
	"testing"
)

// An OPTIONS is forwarded as often as it says (RFC 9110 section 7.6.2).
func TestOPTIONSIsNotForwardedFurtherThanItMayBe(t *testing.T) {
	r := newRig(t)
	p := r.proxy(tunnels)
	r.start(p.addr())
	c := r.dial()
	for i, body := range []string{"\r\n", "Content-Length: 4\r\n\r\nbody"} { // the connection goes on
		c.send("OPTIONS http://site.test HTTP/1.1\r\nHost: site.test\r\nmax-forwards: 00\r\n" + body)
		resp, err := http.ReadResponse(c.br, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != 200 || resp.ContentLength != 0 || resp.Close || !strings.Contains(resp.Header.Get("Allow"), "CONNECT") {
			t.Errorf("answered with %d %v", resp.StatusCode, resp.Header)
		}
		if x := r.logged(i + 1); x.Status != 200 || len(x.Attempts) > 0 {
			t.Errorf("logged as %+v", x)
		}
	}
	c.send("OPTIONS http://site.test HTTP/1.0\r\nMax-Forwards: 0\r\n\r\n")
	if resp, err := http.ReadResponse(c.br, nil); err != nil || resp.StatusCode != 200 || !resp.Close {
		t.Errorf("%v %v", resp, err)
	}
	c.expectEnd()
	if all, _ := p.accepted(); all > 0 {
		t.Errorf("%d connections to the proxy", all)
	}
}

func TestMaxForwardsIsCountedDownForOPTIONSOnly(t *testing.T) {
	for _, c := range []struct{ method, fields, want string }{
		{"OPTIONS", "MAX-Forwards: 5\r\n", "MAX-Forwards: 4\r\n"},
		{"OPTIONS", "Max-Forwards: 1\r\n", "Max-Forwards: 0\r\n"},
		{"OPTIONS", "Max-Forwards: 99999999999999999999\r\n", "Max-Forwards: 18446744073709551614\r\n"},
		{"OPTIONS", "Max-Forwards: -1\r\n", "Max-Forwards: -1\r\n"},
		{"OPTIONS", "Max-Forwards: 1x\r\n", "Max-Forwards: 1x\r\n"},
		{"OPTIONS", "Max-Forwards:\r\n", "Max-Forwards: \r\n"},
		{"OPTIONS", "Max-Forwards: 0\r\nMax-Forwards: 3\r\n", "Max-Forwards: 0\r\nMax-Forwards: 3\r\n"},
		{"OPTIONS", "X-A: 1\r\n", "X-A: 1\r\n"},
		{"GET", "Max-Forwards: 0\r\n", "Max-Forwards: 0\r\n"},
		{"PUT", "Max-Forwards: 5\r\n", "Max-Forwards: 5\r\n"},
	} {
		t.Run(c.method+" "+c.fields, func(t *testing.T) {
			r := newRig(t)
			p := r.proxy(answers("HTTP/1.1 204 No Content\r\n\r\n"))
			r.start(p.addr())
			client := r.dial()
			client.send(c.method + " http://site.test/ HTTP/1.1\r\nHost: site.test\r\n" + c.fields + "\r\n")
			resp, err := http.ReadResponse(client.br, nil)
			if err != nil || resp.StatusCode != 204 {
				t.Fatalf("%v %v", resp, err)
			}
			_, head := p.asked()
			if _, fields, _ := strings.Cut(head, "Host: site.test\r\n"); fields != c.want+"\r\n" {
				t.Errorf("the proxy was asked %q", head)
			}
		})
	}
}
