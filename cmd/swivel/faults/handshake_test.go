package faults

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// speaker is the proxy's side of a protocol: it takes turns, reading so many
// bytes, or up to the end of a head, and then saying something.
type speaker struct {
	address string // of the list, with %s for host:port
	keys    string // behind it
	turns   []turn
	secure  bool // all of it behind TLS
	plain   bool // asked by a plain request
}

type turn struct {
	read int // bytes; 0: a head, -1: up to a NUL behind eight bytes, as SOCKS4 has it
	say  string
}

const (
	response   = "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Length: 5\r\n\r\nhello"
	headLength = len(response) - len("hello")
	target5    = 4 + 1 + len("t.test") + 2 // a SOCKS5 request's length
)

func speakers() map[string]speaker {
	return map[string]speaker{
		"http":        {address: "http://%s", turns: []turn{{0, opened}}},
		"http-auth":   {address: "http://user:pass@%s", turns: []turn{{0, "HTTP/1.1 200 Connection established\r\nVia: 1.1 x\r\n\r\n"}}},
		"https":       {address: "https://%s", keys: " insecure=true", turns: []turn{{0, opened}}, secure: true},
		"socks4":      {address: "socks4://%s", turns: []turn{{-1, "\x00\x5a\x00\x00\x00\x00\x00\x00"}}},
		"socks4a":     {address: "socks4a://%s", turns: []turn{{-1, "\x00\x5a\x00\x00\x00\x00\x00\x00"}}},
		"socks5":      {address: "socks5://%s", turns: []turn{{3, "\x05\x00"}, {target5, "\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50"}}},
		"socks5-name": {address: "socks5h://%s", turns: []turn{{3, "\x05\x00"}, {target5, "\x05\x00\x00\x03\x05a.com\x00\x50"}}},
		"socks5-auth": {address: "socks5://user:pass@%s", turns: []turn{{4, "\x05\x02"}, {11, "\x01\x00"}, {target5, "\x05\x00\x00\x04" + strings.Repeat("\x00", 18)}}},
		"plain":       {address: "http://%s", turns: []turn{{0, response}}, plain: true},
	}
}

// The harms.
const (
	closes = "close"
	resets = "reset"
	stalls = "stall"
)

// script is how one connection goes wrong: after so many bytes in all.
type script struct {
	speaker
	harm  string
	bytes int
}

// serve speaks until it is time for the harm.
func (s script) serve(c net.Conn, peer io.ReadWriter) {
	left := s.bytes
	for _, turn := range s.turns {
		if !turn.hear(peer) {
			return
		}
		say := turn.say[:min(left, len(turn.say))]
		if _, err := io.WriteString(peer, say); err != nil {
			return
		}
		if left -= len(say); left == 0 {
			s.end(c)
			return
		}
	}
}

func (s script) end(c net.Conn) {
	switch s.harm {
	case stalls:
		_, _ = io.Copy(io.Discard, c)
	case resets:
		_ = c.(*net.TCPConn).SetLinger(0)
	}
	_ = c.Close()
}

// hear reads what the other side says in this turn.
func (turn turn) hear(r io.Reader) bool {
	one := make([]byte, 1)
	for n, tail := 1, ""; ; n++ {
		if _, err := io.ReadFull(r, one); err != nil {
			return false
		}
		tail = (tail + string(one))[max(0, len(tail)-3):]
		switch {
		case turn.read > 0 && n == turn.read, turn.read == 0 && tail == "\r\n\r\n", turn.read < 0 && n > 8 && one[0] == 0:
			return true
		}
	}
}

// throttled counts what a TLS server sends, and stops it after so many bytes.
type throttled struct {
	net.Conn
	left *atomic.Int64
	harm func()
}

func (c throttled) Write(p []byte) (int, error) {
	left := c.left.Add(-int64(len(p))) + int64(len(p))
	if left >= int64(len(p)) {
		return c.Conn.Write(p)
	}
	if left > 0 {
		_, _ = c.Conn.Write(p[:left])
	}
	c.harm()
	return 0, io.ErrClosedPipe
}

// handshakeTest is a daemon with a proxy for each way to go wrong.
type handshakeTest struct {
	daemon  daemon
	scripts map[string]script // by the name of the proxy
	wg      sync.WaitGroup
}

const (
	handshakeTimeout = time.Second
	// inTime is how long a client may wait for the end of what stalls; the machine
	// is busy.
	inTime = handshakeTimeout + 6*time.Second
)

// TestHandshake: a proxy closes, resets or goes silent after each byte of what it
// says, in each protocol. Every client gets an answer in time, the log has the
// right word, and nothing is left behind.
func TestHandshake(t *testing.T) {
	t.Parallel()
	h := &handshakeTest{scripts: map[string]script{}}
	s := h.setup(t)
	h.daemon = startDaemon(t, s)
	names := make([]string, 0, len(h.scripts))
	for name := range h.scripts {
		names = append(names, name)
	}
	slices.Sort(names)
	stalling := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return h.scripts[name].harm != stalls })
	before := h.daemon.holds(t)
	h.ask(t, stalling[:64]) // at once, so that the workers that are kept for later are there
	swiveltest.Eventually(t, 10*time.Second, "the connections are closed", func() bool { return h.daemon.Files(t) <= before.files+4 })
	before = h.daemon.holds(t)
	slowest := h.ask(t, names)
	after := h.daemon.settles(t, 15*time.Second, before)
	h.checkSignals(t)
	note(t, "every byte", "%d ways to go wrong in %d protocols; the slowest answer after %v (handshake_timeout is %v)", len(names), len(speakers()), slowest.Round(time.Millisecond), handshakeTimeout)
	note(t, "left behind", "before %v, after %v", before, after)
}

// setup starts a listener for each way. TLS says some 1,500 bytes, of which the
// short form takes every 50th.
func (h *handshakeTest) setup(t *testing.T) (s swiveltest.Setup) {
	t.Helper()
	identity := selfSigned(t)
	for protocol, sp := range speakers() {
		said := 0
		for _, turn := range sp.turns {
			said += len(turn.say)
		}
		step := 1
		if sp.secure {
			said, step = 1500, either(50, 5)
		}
		for _, harm := range []string{closes, resets, stalls} {
			for n := 0; n < said; n += step {
				if sp.plain && harm == stalls && n >= headLength {
					break // it is the client's to say how long a body may be silent
				}
				name := fmt.Sprintf("%s-%s-%d", protocol, harm, n)
				h.scripts[name] = script{sp, harm, n}
				s.Lines = append(s.Lines, fmt.Sprintf(sp.address, h.listen(t, h.scripts[name], identity))+" name="+name+sp.keys)
			}
		}
	}
	s.Env = []string{"SWIVEL_ATTEMPTS_HANDSHAKE_TIMEOUT=1s", "SWIVEL_ATTEMPTS_RESPONSE_TIMEOUT=1s", "SWIVEL_ATTEMPTS_ATTEMPTS=1", "SWIVEL_ATTEMPTS_HEDGE_AFTER=off",
		"SWIVEL_BREAKER_CONSECUTIVE_FAILURES=0", "SWIVEL_BREAKER_ERROR_RATIO=1", "SWIVEL_BREAKER_MIN_SAMPLES=1000", "SWIVEL_TARGETS_REST=1ms", "SWIVEL_TARGETS_MAX_REST=1ms"}
	return s
}

func (h *handshakeTest) listen(t *testing.T, s script, identity tls.Certificate) (hostPort string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.5.2:0")
	if err != nil {
		t.Fatal(err)
	}
	serve := func(c net.Conn) { s.serve(c, c) }
	if s.secure {
		serve = func(c net.Conn) {
			var left atomic.Int64
			left.Store(int64(s.bytes))
			secure := tls.Server(throttled{c, &left, func() { s.end(c) }}, &tls.Config{Certificates: []tls.Certificate{identity}})
			whole := s
			whole.bytes = 1 << 20
			whole.serve(c, secure)
			_, _ = io.Copy(io.Discard, secure)
		}
	}
	h.wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			h.wg.Go(func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(time.Minute))
				serve(c)
			})
		}
	})
	t.Cleanup(func() { _ = ln.Close() })
	return ln.Addr().String()
}
