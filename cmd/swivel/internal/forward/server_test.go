package forward_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"swivel/pool"
)

// delivery is how the answers of a server arrive.
type delivery string

const (
	normal     delivery = "normal" // head and body one after the other
	byteByByte delivery = "byte by byte"
	coalesced  delivery = "coalesced" // head and body in one segment
)

// inAllDeliveries runs the test in each of them.
func inAllDeliveries(t *testing.T, test func(t *testing.T, by delivery)) {
	for _, by := range []delivery{normal, byteByByte, coalesced} {
		t.Run(string(by), func(t *testing.T) { test(t, by) })
	}
}

// server is a scripted upstream: it records what it received, byte for byte.
type server struct {
	t    testing.TB
	addr netip.AddrPort
	ln   net.Listener

	mu       sync.Mutex
	peers    map[*peer]struct{}
	accepted int
	got      []string // the requests, head and decoded body
	changed  chan struct{}
	handlers sync.WaitGroup
}

// peer is one connection of a server.
type peer struct {
	*net.TCPConn
	server *server
	br     *bufio.Reader
	index  int // of the connection, from 0
	by     delivery
}

// serve runs play for every connection to a new port until the test ends, and
// closes the connection behind it.
func serve(t testing.TB, by delivery, play func(p *peer)) *server {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{
		t: t, ln: ln, addr: ln.Addr().(*net.TCPAddr).AddrPort(),
		peers: map[*peer]struct{}{}, changed: make(chan struct{}),
	}
	s.handlers.Go(func() { s.accept(by, play) })
	t.Cleanup(s.stop)
	return s
}

func (s *server) accept(by delivery, play func(p *peer)) {
	for {
		c, err := s.ln.Accept()
		if err != nil {
			return
		}
		p := &peer{TCPConn: c.(*net.TCPConn), server: s, br: bufio.NewReader(c), by: by}
		s.note(func() { p.index = s.accepted; s.accepted++; s.peers[p] = struct{}{} })
		s.handlers.Go(func() {
			defer s.note(func() { delete(s.peers, p) })
			defer p.Close()
			play(p)
		})
	}
}

// note changes the record and wakes who waits for it.
func (s *server) note(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *server) stop() {
	_ = s.ln.Close()
	s.mu.Lock()
	for p := range s.peers {
		_ = p.Close()
	}
	s.mu.Unlock()
	s.handlers.Wait()
}

// wait waits until the condition on the record holds.
func (s *server) wait(what string, holds func() bool) {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		ok, changed := holds(), s.changed
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			s.t.Fatalf("in vain: %s", what)
		}
	}
}

// waitClosed waits until no connection is open.
func (s *server) waitClosed() {
	s.t.Helper()
	s.wait("the upstream connections are closed", func() bool { return s.accepted > 0 && len(s.peers) == 0 })
}

// requests returns what was received so far.
func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.got...)
}

// connections returns how many there have been.
func (s *server) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

func (s *server) spec() *pool.Spec { return spec(pool.HTTP, s.addr) }

// head reads one head, up to its empty line.
func (p *peer) head() (string, bool) {
	var b strings.Builder
	for {
		line, err := p.br.ReadString('\n')
		b.WriteString(line)
		if err != nil {
			return b.String(), false
		}
		if line == "\r\n" {
			return b.String(), true
		}
	}
}

// request reads one request and records it.
func (p *peer) request() (string, bool) {
	head, ok := p.head()
	if !ok {
		return head, false
	}
	body, ok := readBody(p.br, head)
	p.server.note(func() { p.server.got = append(p.server.got, head+body) })
	return head + body, ok
}

// readBody reads and decodes the body that the head announces.
func readBody(br *bufio.Reader, head string) (string, bool) {
	lower := strings.ToLower(head)
	if strings.Contains(lower, "\r\ntransfer-encoding: chunked\r\n") {
		return readChunks(br)
	}
	_, after, found := strings.Cut(lower, "\r\ncontent-length: ")
	if !found {
		return "", true
	}
	number, _, _ := strings.Cut(after, "\r\n")
	n, _ := strconv.Atoi(number)
	b := make([]byte, n)
	n, err := io.ReadFull(br, b)
	return string(b[:n]), err == nil
}

func readChunks(br *bufio.Reader) (string, bool) {
	var body strings.Builder
	for {
		line, err := br.ReadString('\n')
		n, perr := strconv.ParseInt(strings.TrimSpace(line), 16, 64)
		if err != nil || perr != nil {
			return body.String(), false
		}
		if n == 0 {
			break
		}
		if _, err := io.CopyN(&body, br, n); err != nil {
			return body.String(), false
		}
		if end, err := br.ReadString('\n'); err != nil || end != "\r\n" {
			return body.String(), false
		}
	}
	for {
		line, err := br.ReadString('\n')
		if err != nil {
			return body.String(), false
		}
		if line == "\r\n" {
			return body.String(), true
		}
		body.WriteString("trailer " + line)
	}
}

// send sends a response. A client that has left is for the test to notice.
func (p *peer) send(head, body string) {
	switch p.by {
	case normal:
		_, _ = io.WriteString(p, head)
		_, _ = io.WriteString(p, body)
	case coalesced:
		_, _ = io.WriteString(p, head+body)
	default:
		for i := range len(head + body) {
			_, _ = io.WriteString(p, (head + body)[i:i+1])
		}
	}
}

// untilClosed waits until the other side closes.
func (p *peer) untilClosed() { _, _ = io.Copy(io.Discard, p.br) }

// echo sends back what comes. It hides the connection, or Go would splice and
// keep a pair of pipes.
func (p *peer) echo() { _, _ = io.Copy(struct{ io.Writer }{p}, struct{ io.Reader }{p.br}) }

// abort closes with a reset.
func (p *peer) abort() {
	_ = p.SetLinger(0)
	_ = p.Close()
}

// answering answers every request with the same bytes.
func answering(head, body string) func(*peer) {
	return func(p *peer) {
		for {
			if _, ok := p.request(); !ok {
				return
			}
			p.send(head, body)
		}
	}
}

// expired is a context that has ended.
func expired(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
