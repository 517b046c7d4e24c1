package integration

import (
	"bufio"
	"cmp"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swivel/pool/upstream/listentest"
)

// toy is an upstream proxy inside the test, at an address that it keeps while
// it changes its behaviour: the faults of a real one cannot be had on demand.
type toy struct {
	hostPort string
	accepted atomic.Int64

	listener net.Listener // nil while nobody listens
	serving  sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]struct{}
}

// newToy returns a toy that nobody listens for yet.
func newToy(t testing.TB, address string) *toy {
	t.Helper()
	y := &toy{hostPort: listentest.Reserved(t, address).String(), conns: map[net.Conn]struct{}{}}
	t.Cleanup(y.shut)
	return y
}

// open listens and handles each connection by the behaviour, which need not
// close it.
func (y *toy) open(t testing.TB, behave func(net.Conn)) {
	t.Helper()
	ln, err := net.Listen("tcp", y.hostPort)
	if err != nil {
		t.Fatal(err)
	}
	y.listener = ln
	y.serving.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			y.accepted.Add(1)
			y.serving.Go(func() { y.serve(c, behave) })
		}
	})
}

func (y *toy) serve(c net.Conn, behave func(net.Conn)) {
	y.mu.Lock()
	y.conns[c] = struct{}{}
	y.mu.Unlock()
	behave(c)
	_ = c.Close()
	y.mu.Lock()
	delete(y.conns, c)
	y.mu.Unlock()
}

// shut ends the listener and all connections: from here on the port refuses.
func (y *toy) shut() {
	if y.listener == nil {
		return
	}
	_ = y.listener.Close()
	y.listener = nil
	y.mu.Lock()
	for c := range y.conns {
		_ = c.Close()
	}
	y.mu.Unlock()
	y.serving.Wait()
}

// carry is what a sound proxy does. It leaves from the address it was reached at.
func carry(c net.Conn) { carryTo(nil)(c) }

// carryTo is carry for a proxy with a resolver of its own: it knows where some
// targets are.
func carryTo(known map[string]string) func(net.Conn) {
	return func(c net.Conn) { carryBy(c, func(target string) string { return cmp.Or(known[target], target) }) }
}

func carryBy(c net.Conn, resolve func(string) string) {
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	br := bufio.NewReader(c)
	req, err := http.ReadRequest(br)
	if err != nil {
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	from := &net.TCPAddr{IP: c.LocalAddr().(*net.TCPAddr).IP}
	address := req.Host
	if req.URL.Scheme == "http" && req.URL.Port() == "" {
		address += ":80"
	}
	target, err := (&net.Dialer{LocalAddr: from, Timeout: 5 * time.Second}).Dial("tcp", resolve(address))
	if err != nil {
		_, _ = io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\n\r\n")
		return
	}
	defer target.Close()
	if req.Method != http.MethodConnect { // one plain request, and that is all
		req.Close = true
		if req.Write(target) == nil {
			_, _ = io.Copy(c, target)
		}
		return
	}
	_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		_, _ = io.Copy(target, br)
		_ = target.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(c, target)
}

// answer reads a request's head and says the same to everyone.
func answer(reply string) func(net.Conn) {
	return func(c net.Conn) {
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_, _ = io.WriteString(c, reply)
		}
	}
}

// hangUp closes at once.
func hangUp(net.Conn) {}
