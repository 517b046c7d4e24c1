package front

import (
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"
)

// answered is how everything that swivel says to a client begins: in HTTP, in
// SOCKS, in TLS, or not at all.
var answered = regexp.MustCompile(`^(HTTP/1\.[01] [1-5]\d\d |\x05|\x00\[|[\x14-\x17]\x03|$)`)

// untold is what no client is ever told.
var untold = regexp.MustCompile(`dial tcp|read tcp|write tcp|goroutine |\.go:\d|runtime error|EOF|i/o timeout`)

// FuzzInput sends what it likes to a front with one good proxy behind it, and
// wants an answer in some protocol, or the end, in no time, without a word about
// what is inside.
func FuzzInput(f *testing.F) {
	for _, text := range []string{
		"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\nhello",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\nGET http://a.test/2 HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n",
		"POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\nhello",
		"POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"CONNECT a.test:443 HTTP/1.1\r\nProxy-Authorization: Basic dS1jb3VudHJ5LWRlOng=\r\n\r\n",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX-Swivel-Route: ttl=x\r\nX-Swivel-Session: a;b\r\n\r\n",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
		"\x05\x01\x00\x05\x01\x00\x03\x06a.test\x01\xbbhello", "\x05\x02\x00\x02", "\x04\x01\x00\x50\x7f\x00\x00\x01\x00",
		"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", "\r\n\r\n\n\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	} {
		f.Add([]byte(text))
	}
	r := newRig(f)
	p := r.proxy(func(c *peer) {
		if strings.HasPrefix(c.head(), "CONNECT ") {
			c.send("HTTP/1.1 200 OK\r\n\r\n")
			c.echo()
			return
		}
		c.send("HTTP/1.1 200 OK\r\nDate: now\r\nContent-Length: 2\r\n\r\nok")
		c.drain()
	})
	r.start(p.addr())
	inside := p.addr()
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(patience))
		go func() {
			_, _ = c.Write(text) // fails when swivel has heard enough
			_ = c.(*net.TCPConn).CloseWrite()
		}()
		said, err := io.ReadAll(c)
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
			t.Fatalf("%q: no end, after %q", text, said)
		}
		if !answered.Match(said) {
			t.Errorf("%q is answered with %q", text, said)
		}
		if found := untold.Find(said); found != nil && !strings.Contains(string(text), string(found)) || strings.Contains(string(said), inside) {
			t.Errorf("%q is told %q", text, said)
		}
	})
}
