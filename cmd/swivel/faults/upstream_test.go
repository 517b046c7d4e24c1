package faults

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// upstream is a scripted proxy, and whatever target is asked for through it.
type upstream struct {
	hostPort string
	behave   atomic.Pointer[func(*visit)]

	mu      sync.Mutex
	visits  []time.Time // when somebody came, in their order
	targets []string    // what was asked for
	conns   map[net.Conn]struct{}
	closed  bool
	serving sync.WaitGroup
}

// visit is one connection to an upstream.
type visit struct {
	net.Conn
	in *bufio.Reader
	at *upstream
}

// newUpstream listens on a loopback address other than 127.0.0.1, from which
// connections leave by themselves.
func newUpstream(t *testing.T, behave func(*visit)) *upstream {
	t.Helper()
	return newUpstreamIn(t, nil, "127.0.5.1:0", behave)
}

func newUpstreamIn(t *testing.T, in *network, address string, behave func(*visit)) *upstream {
	t.Helper()
	ln := in.listen(t, address)
	u := &upstream{hostPort: ln.Addr().String(), conns: map[net.Conn]struct{}{}}
	u.follow(behave)
	u.serving.Go(func() { u.accept(ln) })
	t.Cleanup(func() {
		_ = ln.Close()
		u.mu.Lock()
		u.closed = true
		for c := range u.conns {
			_ = c.Close()
		}
		u.mu.Unlock()
		u.serving.Wait()
	})
	return u
}

// follow changes what is done with those who come from here on.
func (u *upstream) follow(behave func(*visit)) { u.behave.Store(&behave) }

func (u *upstream) accept(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			pass(10 * time.Millisecond)
			continue
		}
		u.mu.Lock()
		closed := u.closed
		u.visits = append(u.visits, time.Now())
		u.conns[c] = struct{}{}
		u.mu.Unlock()
		if closed {
			_ = c.Close()
			return
		}
		u.serving.Go(func() {
			(*u.behave.Load())(&visit{c, bufio.NewReader(c), u})
			_ = c.Close()
			u.mu.Lock()
			delete(u.conns, c)
			u.mu.Unlock()
		})
	}
}

// came counts the visits between two times.
func (u *upstream) came(from, to time.Time) (n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, at := range u.visits {
		if at.After(from) && at.Before(to) {
			n++
		}
	}
	return n
}

// asked counts the requests for a target.
func (u *upstream) asked(target string) (n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, one := range u.targets {
		if one == target {
			n++
		}
	}
	return n
}

// request reads a request's head.
func (v *visit) request() (*http.Request, bool) {
	_ = v.SetReadDeadline(time.Now().Add(time.Minute)) // nothing hangs for ever
	r, err := http.ReadRequest(v.in)
	if err != nil {
		return nil, false
	}
	_ = v.SetReadDeadline(time.Time{})
	v.at.mu.Lock()
	v.at.targets = append(v.at.targets, r.Host)
	v.at.mu.Unlock()
	return r, true
}

func (v *visit) say(text string) { _, _ = io.WriteString(v, text) }

// sound opens tunnels to an echo, and answers plain requests with their target.
func sound(v *visit) {
	for {
		r, ok := v.request()
		if !ok {
			return
		}
		if r.Method == http.MethodConnect {
			v.say(opened)
			_, _ = io.Copy(v, v.in)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		v.say("HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Length: 2\r\n\r\nok")
	}
}

const opened = "HTTP/1.1 200 OK\r\n\r\n"

// answers gives one reply to everybody.
func answers(reply string) func(*visit) {
	return func(v *visit) {
		if _, ok := v.request(); ok {
			v.say(reply)
		}
	}
}

var (
	gateway = answers("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
	login   = answers("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
)

// denies is sound but for targets that begin so.
func denies(prefix string) func(*visit) {
	return func(v *visit) {
		first, err := v.in.Peek(len("CONNECT ") + len(prefix))
		if err == nil && strings.HasSuffix(string(first), prefix) {
			answers("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")(v)
			return
		}
		sound(v)
	}
}
