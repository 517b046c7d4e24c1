package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"swivel/pool"
)

// canned is a connection to a proxy that says one thing and closes. It takes
// whatever it is sent.
type canned struct {
	net.Conn // nil: what is not below must not be called
	in       io.Reader
	left     *bytes.Reader
}

func newCanned(text []byte, byByte bool) *canned {
	c := &canned{left: bytes.NewReader(text)}
	c.in = c.left
	if byByte {
		c.in = iotest.OneByteReader(c.left)
	}
	return c
}

func (c *canned) Read(b []byte) (int, error)  { return c.in.Read(b) }
func (c *canned) Write(b []byte) (int, error) { return len(b), nil }
func (c *canned) Close() error                { return nil }
func (c *canned) SetDeadline(time.Time) error { return nil }

// converse runs one handshake against text and returns its signal with all
// that is left behind the reply.
func converse(t *testing.T, speak handshake, text []byte, byByte bool) (pool.Signal, string) {
	t.Helper()
	conn := newCanned(text, byByte)
	ph := beginPhase(context.Background(), conn, time.Hour)
	defer ph.hook.Stop()
	early, err := speak(ph, conn)
	if err != nil {
		if _, ok := errors.AsType[*Error](err); !ok || SignalOf(err) == pool.NoSignal {
			t.Fatalf("error %T %v", err, err)
		}
		return SignalOf(err), ""
	}
	rest, _ := io.ReadAll(conn.left)
	return pool.NoSignal, string(early) + string(rest)
}

// bothWays checks that the handshake understands text the same however it is
// cut, and loses nothing that is behind the reply.
func bothWays(t *testing.T, speak handshake, text []byte) {
	t.Helper()
	signal, rest := converse(t, speak, text, false)
	signal1, rest1 := converse(t, speak, text, true)
	if signal != signal1 || rest != rest1 {
		t.Errorf("%v and %q in one piece, %v and %q byte by byte", signal, rest, signal1, rest1)
	}
	if signal == pool.NoSignal && !bytes.HasSuffix(text, []byte(rest)) {
		t.Errorf("%q is not the end of what was sent", rest)
	}
}

func FuzzConnectReply(f *testing.F) {
	for _, r := range httpRows() {
		f.Add([]byte(r.steps[0].send))
		f.Add([]byte(r.steps[0].send + "SSH-2.0-x\r\n"))
	}
	to, err := parseTarget("origin.test:443", 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		bothWays(t, func(ph *phase, conn net.Conn) ([]byte, error) {
			return httpConnect(ph, conn, &pool.Spec{}, to)
		}, text)
	})
}

func FuzzSocksReply(f *testing.F) {
	for _, r := range append(socks5Rows(), socks4Rows()...) {
		text := script{steps: r.steps}.everything()
		f.Add(uint8(r.scheme), r.user != "", []byte(text+"SSH-2.0-x\r\n"))
	}
	to, err := parseTarget("origin.test:443", 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, scheme uint8, auth bool, text []byte) {
		p := &pool.Spec{Scheme: pool.Scheme(scheme), HasAuth: auth, User: strings.Repeat("u", 5)}
		bothWays(t, func(ph *phase, conn net.Conn) ([]byte, error) {
			if p.Scheme == pool.SOCKS4 || p.Scheme == pool.SOCKS4A {
				return nil, socks4(ph, conn, p, to)
			}
			return nil, socks5(ph, conn, p, to)
		}, text)
	})
}
