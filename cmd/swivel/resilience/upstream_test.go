package resilience

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"swivel/pool/upstream/listentest"
)

// upstream is a scripted proxy, and whatever target is asked for through it. It
// keeps its port while it changes its script.
type upstream struct {
	name     string
	hostPort string
	ledger   *ledger

	mu       sync.Mutex
	script   script
	listener net.Listener // nil while the port refuses
	opening  map[net.Conn]struct{}
	served   chan struct{} // gets one when it first serves by the script
	serving  sync.WaitGroup
}

// newUpstream returns one that listens and follows the script.
func newUpstream(t *testing.T, name string, s script, l *ledger) *upstream {
	t.Helper()
	u := &upstream{name: name, hostPort: listentest.Reserved(t, "127.0.0.1").String(), ledger: l, opening: map[net.Conn]struct{}{}}
	u.follow(t, s)
	t.Cleanup(func() {
		u.refuse()
		u.serving.Wait()
	})
	return u
}

// follow makes the upstream answer by the script from here on, at the port that
// it has had before, and returns where to learn when it first serves.
func (u *upstream) follow(t *testing.T, s script) (served <-chan struct{}) {
	t.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.script, u.served = s, make(chan struct{}, 1)
	if u.listener == nil {
		ln, err := net.Listen("tcp", u.hostPort)
		if err != nil {
			t.Fatal(err)
		}
		u.listener = ln
		u.serving.Go(func() { u.accept(ln) })
	}
	return u.served
}

// refuse closes the port. Handshakes under way are cut off; tunnels last, since
// nothing behind the 200 could be repeated by anybody.
func (u *upstream) refuse() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.listener == nil {
		return
	}
	_ = u.listener.Close()
	u.listener = nil
	for c := range u.opening {
		_ = c.Close()
	}
}

func (u *upstream) accept(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		v := u.ledger.enter(u.name)
		u.serving.Go(func() {
			defer c.Close()
			u.serve(c, v)
		})
	}
}

// patience is longer than any attempt lasts: nothing may hang for ever.
const patience = time.Minute

// serve is one attempt: a CONNECT, and one exchange inside the tunnel.
func (u *upstream) serve(c net.Conn, v *visit) {
	_ = c.SetDeadline(time.Now().Add(patience))
	in := bufio.NewReader(c)
	if !u.handshake(c, in, v) {
		return
	}
	u.ledger.note(v, unused)
	req, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	body := greeting(req.Host)
	if _, err := fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		return
	}
	u.ledger.note(v, served)
	u.tellServed()
}

// greeting is what a target says to everybody.
func greeting(target string) string { return "this is " + target + "\n" }

// handshake answers the CONNECT as the script says; true when that opens the
// tunnel.
func (u *upstream) handshake(c net.Conn, in *bufio.Reader, v *visit) bool {
	u.mu.Lock()
	script := u.script
	u.opening[c] = struct{}{}
	u.mu.Unlock()
	defer u.openingNoMore(c)
	req, err := http.ReadRequest(in)
	if err != nil || req.Method != http.MethodConnect {
		return false
	}
	u.ledger.target(v, req.Host)
	answer := script(req.Host)
	if answer.silent {
		_, _ = io.Copy(io.Discard, in) // until the other end gives up
		return false
	}
	<-time.After(answer.after)
	u.openingNoMore(c) // before the 200 is out: behind it refuse must not cut it off
	_, err = io.WriteString(c, answer.text)
	return answer.text == opened && err == nil
}

func (u *upstream) openingNoMore(c net.Conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.opening, c)
}

func (u *upstream) tellServed() {
	u.mu.Lock()
	defer u.mu.Unlock()
	select {
	case u.served <- struct{}{}:
	default:
	}
}
