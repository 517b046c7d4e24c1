package tunnel

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
	"swivel/pool/upstream/leaktest"
)

const patience = 20 * time.Second

// tcpPair is the two ends of a loopback connection.
func tcpPair(t testing.TB) (a, b *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	dialed, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	a, b = dialed.(*net.TCPConn), accepted.(*net.TCPConn)
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return a, b
}

// bench is a relay with its two peers: what the client and the proxy hold.
type bench struct {
	t                testing.TB
	client, proxy    *net.TCPConn
	registry         *Registry
	seen             *calls
	relayed          chan Traffic
	inClient, inPeer *net.TCPConn // the relay's own ends
}

// startRelay relays between two fresh connections and watches for leaks.
func startRelay(t testing.TB, r *Registry) *bench {
	t.Helper()
	leaktest.Watch(t)
	b := &bench{t: t, registry: r, seen: &calls{}, relayed: make(chan Traffic, 1)}
	b.client, b.inClient = tcpPair(t)
	b.inPeer, b.proxy = tcpPair(t)
	for _, c := range []*net.TCPConn{b.client, b.proxy} {
		_ = c.SetDeadline(time.Now().Add(patience))
	}
	go func() { b.relayed <- r.Relay(b.inClient, b.inPeer, b.seen) }()
	eventually(t, "the relay runs", func() bool { return r.Len() == 1 })
	return b
}

// ended waits for the relay's end.
func (b *bench) ended() Traffic {
	b.t.Helper()
	select {
	case t := <-b.relayed:
		return t
	case <-time.After(patience):
		b.t.Fatal("the relay does not end")
		return Traffic{}
	}
}

func send(t testing.TB, w io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Error(err)
	}
}

func expect(t testing.TB, r io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != want {
		t.Fatalf("received %q, %v, want %q", got, err, want)
	}
}

func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}

// calls is an Observer that remembers.
type calls struct {
	mu    sync.Mutex
	names []string
}

func (c *calls) note(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names = append(c.names, name)
}

func (c *calls) Sent()                       { c.note("sent") }
func (c *calls) Received(net.Conn) bool      { c.note("received"); return true }
func (c *calls) UpstreamEnded(net.Conn) bool { c.note("upstream"); return false }
func (c *calls) ClientEnded()                { c.note("client") }
func (c *calls) Ended()                      { c.note("ended") }

func (c *calls) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.names, " ")
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	swiveltest.Eventually(t, patience, what, ok)
}
