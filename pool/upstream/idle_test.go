package upstream

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/http1"
)

func TestIdleConnectionIsUsedAgain(t *testing.T) {
	p := proxyPlain(t, nil, nil)
	tr := transport(t, specFor(pool.HTTP, p.addr, ""))
	for range 3 {
		if got := fetch(t, tr, asking("GET")); got != "1" {
			t.Errorf("answered on connection %s", got)
		}
	}
}

func TestIdleConnectionIsNotUsedForWhatCannotBeRepeated(t *testing.T) {
	p := proxyPlain(t, nil, func(v *visit) {
		for v.head() {
			if strings.HasPrefix(v.last, "PUT") {
				_, _ = v.br.Discard(2) // the body
			}
			v.answer()
		}
	})
	tr := transport(t, specFor(pool.HTTP, p.addr, ""))
	fetch(t, tr, asking("GET"))
	for i, r := range []*Request{
		asking("POST"), asking("PATCH"), asking("MKCOL"),
		sending("PUT", "hi", http1.Framing{Kind: http1.Length, Length: 2}),
	} {
		if got, want := fetch(t, tr, r), fmt.Sprint(i+2); got != want {
			t.Errorf("%s was answered on connection %s", r.Method, got)
		}
	}
	if got := fetch(t, tr, asking("GET")); got != "5" {
		t.Errorf("the GET behind them was answered on connection %s, not on the youngest", got)
	}
}

// The proxy may close an idle connection at any moment, also while the next
// request is on its way.
func TestStaleConnectionIsReplaced(t *testing.T) {
	for name, leave := range map[string]func(*visit){
		"closed before":            func(*visit) {},
		"closed by the request":    func(v *visit) { v.head() },
		"reset by the request":     func(v *visit) { v.head(); _ = v.Conn.(*net.TCPConn).SetLinger(0) },
		"unasked answer, and open": func(v *visit) { v.answer(); _, _ = io.Copy(io.Discard, v.br) },
	} {
		t.Run(name, func(t *testing.T) {
			idle := make(chan struct{})
			p := proxyPlain(t, nil, func(v *visit) {
				v.head()
				v.answer()
				if v.n == 1 {
					<-idle
					leave(v)
				}
			})
			tr := transport(t, specFor(pool.HTTP, p.addr, ""))
			fetch(t, tr, asking("GET"))
			close(idle)
			if !strings.HasSuffix(name, "by the request") {
				awaitNotQuiet(t, tr)
			}
			if got := fetch(t, tr, asking("GET")); got != "2" {
				t.Errorf("answered on connection %s", got)
			}
		})
	}
}

// awaitNotQuiet waits until what the server did has reached the idle
// connection.
func awaitNotQuiet(t *testing.T, tr *Transport) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); tr.idle[0].quiet(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing arrives on the idle connection")
		}
	}
}

func TestFailureOfAFreshConnectionIsReported(t *testing.T) {
	p := proxyPlain(t, nil, func(v *visit) { v.head() })
	tr := transport(t, specFor(pool.HTTP, p.addr, ""))
	if e := failure(t, tr, asking("GET")); e.Signal != pool.ResponseClosed || !e.Sent {
		t.Errorf("%v, sent %v", e.Signal, e.Sent)
	}
	if n := p.connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// A server under TLS may send session tickets at any time; those are no answer,
// but an answer is one.
func TestUnaskedBytesUnderTLS(t *testing.T) {
	authority := newAuthority(t)
	cfg := authority.server(t, "proxy.test")
	chatter := make(chan string)
	p := proxyPlain(t, func(c net.Conn) net.Conn { return tls.Server(c, cfg) }, func(v *visit) {
		go func() {
			for text := range chatter {
				_, _ = io.WriteString(v, text)
			}
		}()
		for v.head() {
			v.answer()
		}
	})
	spec := specFor(pool.HTTPS, p.addr, "")
	spec.SNI, spec.CA = "proxy.test", authority.file
	tr := transport(t, spec)
	t.Cleanup(func() { close(chatter) })
	for range 2 {
		if got := fetch(t, tr, asking("GET")); got != "1" {
			t.Errorf("answered on connection %s", got)
		}
	}
	chatter <- "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
	awaitNotQuiet(t, tr)
	if got := fetch(t, tr, asking("GET")); got != "2" {
		t.Errorf("the answer is %q", got)
	}
}

// What is behind the end of a response must not become the next one.
func TestConnectionWithLeftoversIsClosed(t *testing.T) {
	for name, answer := range map[string]string{
		"more than the length":     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
		"a body behind HEAD":       "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
		"asked to close":           "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
		"closing proxy":            "HTTP/1.1 200 OK\r\nProxy-Connection: close\r\nContent-Length: 1\r\n\r\nx",
		"HTTP/1.0":                 "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
		"two ways to find its end": "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := proxyPlain(t, nil, func(v *visit) {
				for v.head() {
					_, _ = io.WriteString(v, answer)
				}
			})
			tr := transport(t, specFor(pool.HTTP, p.addr, ""))
			method := "GET"
			if name == "a body behind HEAD" {
				method = "HEAD"
			}
			fetch(t, tr, asking(method))
			if n := tr.idling(); n != 0 {
				t.Errorf("%d idle connections", n)
			}
		})
	}
}

func TestUnreadBodyClosesTheConnection(t *testing.T) {
	p := proxyPlain(t, nil, nil)
	tr := transport(t, specFor(pool.HTTP, p.addr, ""))
	resp, err := tr.RoundTrip(background(t), background(t), tr.spec, asking("GET"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Close()
	if n := tr.idling(); n != 0 {
		t.Errorf("%d idle connections", n)
	}
}

func TestRotatingProxyGetsANewConnectionForEachRequest(t *testing.T) {
	p := proxyPlain(t, nil, nil)
	spec := specFor(pool.HTTP, p.addr, "")
	spec.Rotating = true
	tr := transport(t, spec)
	for i := range 3 {
		if got := fetch(t, tr, asking("GET")); got != fmt.Sprint(i+1) {
			t.Errorf("answered on connection %s", got)
		}
	}
}

// many makes n requests at once, so that n connections are open.
func many(t *testing.T, tr *Transport, n int) {
	t.Helper()
	open := make([]*Response, n)
	for i := range open {
		var err error
		if open[i], err = tr.RoundTrip(background(t), background(t), tr.spec, asking("GET")); err != nil {
			t.Fatal(err)
		}
	}
	for _, resp := range open {
		if _, err := io.ReadAll(&resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Close()
	}
}

func TestIdleConnectionsAreLimitedAndTheOldestGo(t *testing.T) {
	p := proxyPlain(t, nil, func(v *visit) {
		for v.head() {
			_, _ = io.WriteString(v, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
		}
	})
	tr := transport(t, specFor(pool.HTTP, p.addr, ""))
	many(t, tr, maxIdle+5)
	if n := tr.idling(); n != maxIdle {
		t.Errorf("%d idle connections", n)
	}
	for i := 1; i < maxIdle; i++ {
		if tr.idle[i].since.Before(tr.idle[i-1].since) {
			t.Fatal("the idle connections are not in their order")
		}
	}
}

func TestCloseIdleClosesTheOldOnly(t *testing.T) {
	p := proxyPlain(t, nil, nil)
	tr := transport(t, specFor(pool.HTTP, p.addr, ""))
	many(t, tr, 3)
	now := time.Now()
	tr.CloseIdle(now.Add(idleTimeout - time.Minute))
	if n := tr.idling(); n != 3 {
		t.Errorf("%d of 3 connections are left too early", n)
	}
	tr.idle[0].since = now.Add(-time.Hour)
	tr.CloseIdle(now)
	if n := tr.idling(); n != 2 {
		t.Errorf("%d of 2 connections are left", n)
	}
	tr.idle[1].since = now.Add(-time.Hour)
	if got := fetch(t, tr, asking("GET")); got != "2" {
		t.Errorf("an old connection was used: %s", got)
	}
}

func TestClosedTransportKeepsNothing(t *testing.T) {
	p := proxyPlain(t, nil, nil)
	tr := transport(t, specFor(pool.HTTP, p.addr, ""))
	resp, err := tr.RoundTrip(background(t), background(t), tr.spec, asking("GET"))
	if err != nil {
		t.Fatal(err)
	}
	many(t, tr, 2)
	tr.Close()
	if _, err := io.ReadAll(&resp.Body); err != nil {
		t.Errorf("Close cut an exchange under way: %v", err)
	}
	resp.Close()
	if n := tr.idling(); n != 0 {
		t.Errorf("%d idle connections", n)
	}
}
