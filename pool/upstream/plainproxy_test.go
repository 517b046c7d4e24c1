package upstream

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/http1"
	"swivel/pool/upstream/leaktest"
)

// plainProxy is an HTTP proxy (or the server at the end of a tunnel) whose
// answers name the connection they come on.
type plainProxy struct {
	addr netip.AddrPort

	mu    sync.Mutex
	conns int
	heads []string // of the requests, with the number of their connection in front
}

// visit is one connection to a plainProxy.
type visit struct {
	net.Conn
	br    *bufio.Reader
	proxy *plainProxy
	n     int    // of the connection, from 1
	last  string // head that was read
}

// proxyPlain serves every connection by play; nil answers all requests.
func proxyPlain(t *testing.T, wrap func(net.Conn) net.Conn, play func(*visit)) *plainProxy {
	t.Helper()
	p := &plainProxy{}
	if play == nil {
		play = func(v *visit) {
			for v.head() {
				v.answer()
			}
		}
	}
	p.addr = listen(t, func(c net.Conn) {
		defer c.Close()
		if wrap != nil {
			c = wrap(c)
		}
		p.mu.Lock()
		p.conns++
		v := &visit{Conn: c, br: bufio.NewReader(c), proxy: p, n: p.conns}
		p.mu.Unlock()
		play(v)
	})
	return p
}

func (p *plainProxy) connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conns
}

func (p *plainProxy) received() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.heads...)
}

// head reads and records one request head.
func (v *visit) head() bool {
	head, err := http1.ReadHead(v.br, 64<<10)
	if err != nil {
		return false
	}
	v.last = head
	v.proxy.mu.Lock()
	defer v.proxy.mu.Unlock()
	v.proxy.heads = append(v.proxy.heads, fmt.Sprint(v.n, " ", head))
	return true
}

func (v *visit) answer() {
	_, _ = fmt.Fprintf(v, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d", v.n)
}

// asking is a request without a body.
func asking(method string) *Request {
	return &Request{
		Method: method, Absolute: "http://site.test/", Origin: "/", Authority: "site.test:80",
		Fields: http1.Fields{{Name: "Host", Value: "site.test"}}, Held: []byte{},
	}
}

// sending is a request whose body is streamed from text.
func sending(method, text string, f http1.Framing) *Request {
	r := asking(method)
	r.Held, r.Framing, r.Source = nil, f, &source{}
	r.Body = http1.NewBody(bufio.NewReader(strings.NewReader(text)), f)
	return r
}

// source is a body's source that never has to wait.
type source struct{ awaited, sent, interrupted int }

func (s *source) Await()     { s.awaited++ }
func (s *source) Sent()      { s.sent++ }
func (s *source) Interrupt() { s.interrupted++ }

// fetch makes the request and returns the response's body, behind which the
// connection is given back.
func fetch(t *testing.T, tr *Transport, r *Request) string {
	t.Helper()
	return fetchAs(t, tr, tr.spec, r)
}

// fetchAs is fetch with the credentials of one attempt.
func fetchAs(t *testing.T, tr *Transport, p *pool.Spec, r *Request) string {
	t.Helper()
	resp, err := tr.RoundTrip(background(t), background(t), p, r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Close()
	body, err := io.ReadAll(&resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// transport is one with time enough, closed behind the test.
func transport(t *testing.T, p *pool.Spec) *Transport {
	t.Helper()
	leaktest.Watch(t)
	tr := NewTransport(patient(), p, 20*time.Second)
	t.Cleanup(tr.Close)
	return tr
}

func (t *Transport) idling() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.idle)
}

// failure is the *Error that a request ends in.
func failure(t *testing.T, tr *Transport, r *Request) *Error {
	t.Helper()
	resp, err := tr.RoundTrip(background(t), background(t), tr.spec, r)
	if err == nil {
		resp.Close()
		t.Fatalf("%s got %d", r.Method, resp.Status)
	}
	e, ok := err.(*Error)
	if !ok {
		t.Fatalf("%T %v", err, err)
	}
	return e
}
