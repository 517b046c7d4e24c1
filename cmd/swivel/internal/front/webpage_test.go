package front

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// TestWebPageCannotUseTheListener: a page that a browser on this machine shows may
// send to loopback what it likes as a body, and is answered by nobody but us.
func TestWebPageCannotUseTheListener(t *testing.T) {
	const inner = "CONNECT inner.test:443 HTTP/1.1\r\nHost: inner.test:443\r\n\r\nGET http://inner.test/ HTTP/1.1\r\nHost: inner.test\r\n\r\n"
	page := "Host: %s\r\nOrigin: https://page.test\r\n"
	for _, users := range [][]string{nil, {"alice:s3cret"}} {
		for name, head := range map[string]string{
			"a picture":         "GET /x.png HTTP/1.1\r\n" + page + "\r\n",
			"a form":            "POST / HTTP/1.1\r\n" + page + "Content-Type: text/plain\r\nContent-Length: " + fmt.Sprint(len(inner)) + "\r\n\r\n" + inner,
			"a stream":          "POST / HTTP/1.1\r\n" + page + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(inner), inner),
			"a large form":      "POST / HTTP/1.1\r\n" + page + "Content-Length: 100000\r\n\r\n" + strings.Repeat(inner, 1000)[:100000],
			"a preflight":       "OPTIONS / HTTP/1.1\r\n" + page + "Access-Control-Request-Method: PUT\r\n\r\n",
			"a websocket":       "GET / HTTP/1.1\r\n" + page + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
			"a path like a URL": "GET /http://inner.test/ HTTP/1.1\r\n" + page + "\r\n",
		} {
			t.Run(fmt.Sprint(name, len(users)), func(t *testing.T) {
				r := newRig(t)
				r.users = users
				r.settings.KeepAlive = 50 * time.Millisecond
				p := r.proxy(tunnels)
				r.start(p.addr())
				c := r.dial()
				c.send(strings.Replace(head, "%s", "rebound.test:8484", 1))
				text, _ := io.ReadAll(c.br)
				answers := strings.Count(string(text), "HTTP/1.1 ")
				if answers != 1 || !strings.HasPrefix(string(text), "HTTP/1.1 40") || strings.Contains(string(text), "Access-Control-") {
					t.Errorf("%q", text)
				}
				if all, _ := p.accepted(); all > 0 || len(r.exchanges()) != 1 {
					t.Errorf("%d connections to the proxy, %+v", all, r.exchanges())
				}
			})
		}
	}
}
