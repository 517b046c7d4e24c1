package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"swivel/pool"
)

// step is one turn of a scripted upstream: what it must receive, byte for
// byte, and what it then answers.
type step struct{ expect, send string }

// ending is what a scripted upstream does after its last step.
type ending int

const (
	stayOpen ending = iota // until the client closes
	hangUp                 // close at once
	reset                  // close with a RST
)

// delivery is how the answers reach the client.
type delivery string

const (
	normal     delivery = "normal"
	byteByByte delivery = "byte by byte"
	coalesced  delivery = "coalesced" // all answers and what follows in one segment
)

var deliveries = []delivery{normal, byteByByte, coalesced}

// script is a scripted upstream. follow is sent behind the last answer.
type script struct {
	steps  []step
	follow string
	end    ending
}

// play runs the script on conn and returns what the client sent beyond it.
func (s script) play(conn net.Conn, by delivery) (extra string, err error) {
	defer conn.Close()
	for i, st := range s.steps {
		got := make([]byte, len(st.expect))
		if _, err := io.ReadFull(conn, got); err != nil && by != coalesced {
			return "", err
		}
		if !bytes.Equal(got, []byte(st.expect)) && by != coalesced {
			return "", errors.New("upstream received " + quote(got) + " instead of " + quote([]byte(st.expect)))
		}
		switch {
		case by != coalesced:
			deliver(conn, st.send, by)
		case i == 0:
			deliver(conn, s.everything(), by)
		}
	}
	return s.finish(conn, by)
}

func (s script) everything() string {
	var all strings.Builder
	for _, st := range s.steps {
		all.WriteString(st.send)
	}
	return all.String() + s.follow
}

// finish may meet a client that has left already: that is for the test of the
// client's side to judge.
func (s script) finish(conn net.Conn, by delivery) (string, error) {
	if by != coalesced {
		deliver(conn, s.follow, by)
	}
	switch s.end {
	case hangUp:
		return "", nil
	case reset:
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		return "", nil
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok && s.follow != "" {
		_ = half.CloseWrite()
	}
	rest, _ := io.ReadAll(conn)
	return string(rest), nil
}

func deliver(w io.Writer, text string, by delivery) {
	if by != byteByByte {
		_, _ = io.WriteString(w, text)
		return
	}
	for i := range len(text) {
		_, _ = io.WriteString(w, text[i:i+1])
	}
}

func quote(b []byte) string { return strings.TrimSpace(string(bytes.ToValidUTF8(b, []byte("?")))) }

// outcome is what one connection to a scripted upstream came to.
type outcome struct {
	extra string
	err   error
}

// serve plays the script on every connection to a new port, through wrap
// (TLS) unless that is nil. It ends with the test.
func serve(t *testing.T, s script, by delivery, wrap func(net.Conn) net.Conn) (netip.AddrPort, <-chan outcome) {
	t.Helper()
	done := make(chan outcome, 512)
	addr := listen(t, func(conn net.Conn) {
		if wrap != nil {
			conn = wrap(conn)
		}
		extra, err := s.play(conn, by)
		done <- outcome{extra, err}
	})
	return addr, done
}

// listen handles every connection to a new loopback port until the test ends.
func listen(t *testing.T, handle func(net.Conn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go handle(conn)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// specFor describes the proxy at addr; user may be "" (no credentials) or
// "user:password".
func specFor(scheme pool.Scheme, addr netip.AddrPort, user string) *pool.Spec {
	p := &pool.Spec{Scheme: scheme, Host: addr.Addr().String(), Port: addr.Port()}
	if user != "" {
		name, password, _ := strings.Cut(user, ":")
		p.User, p.Password, p.HasAuth = name, pool.Secret(password), true
	}
	return p
}

// patient gives a test that must not run into a timeout time enough.
func patient() *Dialer {
	return NewDialer(Timeouts{Dial: 20 * time.Second, Handshake: 20 * time.Second})
}

func background(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}
