package forward_test

import (
	"io"
	"strings"
	"testing"
)

// BenchmarkGET is a small request on a kept connection, as a usual client sends
// it. What client and upstream of the benchmark cost is counted in, but they
// allocate nothing.
func BenchmarkGET(b *testing.B) {
	request := []byte("GET http://site.test/page HTTP/1.1\r\nHost: site.test\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n" +
		"Accept: */*\r\nAccept-Encoding: gzip, deflate\r\nAccept-Language: en\r\nConnection: keep-alive\r\n\r\n")
	response := []byte("HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Type: text/html\r\n" +
		"Content-Length: 1024\r\nConnection: keep-alive\r\nCache-Control: no-cache\r\n\r\n" + strings.Repeat("x", 1024))
	s := serve(b, normal, func(p *peer) {
		room := make([]byte, 4<<10)
		for {
			if _, err := p.Read(room); err != nil {
				return
			}
			if _, err := p.Write(response); err != nil {
				return
			}
		}
	})
	r := newRig(b, limits{}, s.spec())
	c := r.dial()
	answer := make([]byte, len(response)-len("Connection: keep-alive\r\n"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(c, answer); err != nil {
			b.Fatal(err)
		}
	}
}
