package tunnel

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"hash"
	"io"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"swivel/pool/upstream/leaktest"
)

func TestEndsAreTakenForThoseOfTheSideTheyCameFrom(t *testing.T) {
	for _, test := range []struct {
		name string
		play func(*bench)
		want string
	}{
		{"client leaves unheard", func(b *bench) { _ = b.client.Close(); _, _ = io.ReadAll(b.proxy); _ = b.proxy.Close() }, "client upstream ended"},
		{"client resets unheard", func(b *bench) { reset(b.client) }, "client ended"},
		{"upstream leaves unasked", func(b *bench) { _ = b.proxy.Close(); _, _ = io.ReadAll(b.client); _ = b.client.Close() }, "upstream client ended"},
		{"upstream resets unasked", func(b *bench) { reset(b.proxy) }, "upstream ended"},
		{"closed here", func(b *bench) { _, _ = b.inClient.Close(), b.inPeer.Close() }, "ended"},
		{"question, no answer", func(b *bench) {
			send(b.t, b.client, "?")
			expect(b.t, b.proxy, "?")
			_ = b.proxy.Close()
			_, _ = io.ReadAll(b.client)
			_ = b.client.Close()
		}, "sent upstream client ended"},
		{"question, reset", func(b *bench) { send(b.t, b.client, "?"); expect(b.t, b.proxy, "?"); reset(b.proxy) }, "sent upstream ended"},
		{"question and answer", func(b *bench) {
			send(b.t, b.client, "?")
			expect(b.t, b.proxy, "?")
			send(b.t, b.proxy, "!")
			expect(b.t, b.client, "!")
			send(b.t, b.proxy, "!")
			expect(b.t, b.client, "!")
			reset(b.client)
		}, "sent received client ended"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := startRelay(t, NewRegistry(0, nil))
			test.play(b)
			b.ended()
			if got := b.seen.String(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			if n := b.registry.Len(); n != 0 {
				t.Errorf("%d tunnels are still registered", n)
			}
		})
	}
}

func TestHalfCloseLeavesTheOtherDirectionOpen(t *testing.T) {
	for name, sides := range map[string]func(*bench) (from, to *net.TCPConn){
		"of the client": func(b *bench) (from, to *net.TCPConn) { return b.client, b.proxy },
		"of the proxy":  func(b *bench) (from, to *net.TCPConn) { return b.proxy, b.client },
	} {
		t.Run(name, func(t *testing.T) {
			b := startRelay(t, NewRegistry(0, nil))
			from, to := sides(b)
			send(t, from, "X")
			_ = from.CloseWrite()
			if got, err := io.ReadAll(to); string(got) != "X" || err != nil {
				t.Fatalf("%q, %v", got, err)
			}
			rest := strings.Repeat("y", 1<<20) // enough to switch to splice
			go func() {
				send(t, to, rest)
				_ = to.CloseWrite()
			}()
			if got, err := io.ReadAll(from); string(got) != rest || err != nil {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
			if got := b.ended(); got.Up+got.Down != 1+1<<20 {
				t.Errorf("counted %+v", got)
			}
		})
	}
}

// stream writes n random bytes in uneven pieces, with a pause now and then
// that ends a run of full buffers, and returns their hash.
func stream(w io.Writer, n int, seed uint64) hash.Hash {
	r := rand.New(rand.NewPCG(seed, 1))
	sum := sha256.New()
	piece := make([]byte, 256<<10)
	for i := range piece {
		piece[i] = byte(r.Uint32())
	}
	for n > 0 {
		p := piece[:min(n, 1+r.IntN(len(piece)))]
		p[0] = byte(n)
		sum.Write(p)
		if _, err := w.Write(p); err != nil {
			return sum
		}
		n -= len(p)
		if r.IntN(50) == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	return sum
}

func checkBothWays(t *testing.T, left, right net.Conn) {
	t.Helper()
	const size = 20 << 20
	ends := []net.Conn{left, right}
	sent, received := make([]hash.Hash, 2), make([]hash.Hash, 2)
	done := make(chan error, 4)
	for i, c := range ends {
		go func() {
			sent[i] = stream(c, size, uint64(i))
			done <- c.(interface{ CloseWrite() error }).CloseWrite()
		}()
		go func() {
			received[1-i] = sha256.New()
			_, err := io.Copy(received[1-i], c)
			done <- err
		}()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for i := range ends {
		if !bytes.Equal(sent[i].Sum(nil), received[i].Sum(nil)) {
			t.Errorf("what side %d sent is not what arrived", i)
		}
	}
}

func TestBulkArrivesWholeBothWaysAtOnce(t *testing.T) {
	b := startRelay(t, NewRegistry(0, nil))
	checkBothWays(t, b.client, b.proxy)
	if got := b.ended(); got != (Traffic{20 << 20, 20 << 20}) {
		t.Errorf("counted %+v", got)
	}
}

func TestBulkArrivesWholeOverTLS(t *testing.T) {
	leaktest.Watch(t)
	certificates := httptest.NewUnstartedServer(nil)
	certificates.StartTLS()
	config := certificates.TLS
	certificates.Close()
	client, inClient := tcpPair(t)
	inPeer, peer := tcpPair(t)
	proxy := tls.Server(peer, config)
	upstream := tls.Client(inPeer, &tls.Config{InsecureSkipVerify: true})
	go func() { _ = proxy.Handshake() }()
	if err := upstream.Handshake(); err != nil {
		t.Fatal(err)
	}
	relayed := make(chan Traffic, 1)
	go func() { relayed <- NewRegistry(0, nil).Relay(inClient, upstream, Unobserved{}) }()
	checkBothWays(t, client, proxy)
	if got := <-relayed; got != (Traffic{20 << 20, 20 << 20}) {
		t.Errorf("counted %+v", got)
	}
}

func TestBulkThatSlowsDownGoesBackToBuffers(t *testing.T) {
	leaktest.Watch(t)
	client, inClient := tcpPair(t)
	inPeer, proxy := tcpPair(t)
	text := strings.Repeat("x", 1<<20)
	go send(t, proxy, text)
	relayed := make(chan error, 1)
	go func() {
		n, err := splice(inClient, inPeer, 50*time.Millisecond)
		if n != 1<<20 {
			t.Errorf("%d bytes were spliced", n)
		}
		relayed <- err
	}()
	expect(t, client, text)
	if err := <-relayed; err != nil {
		t.Errorf("slowing down is an error: %v", err)
	}
	go func() { // the deadline that ended it must be off again
		_, err := copySocket(inClient, inPeer, nil)
		relayed <- err
	}()
	time.Sleep(60 * time.Millisecond)
	send(t, proxy, "more")
	expect(t, client, "more")
	_ = proxy.CloseWrite()
	if err := <-relayed; err != io.EOF {
		t.Errorf("the stream ended with %v", err)
	}
}

// A direction goes on with a small stack behind its first bytes: whatever comes
// then passes as before.
func TestCopyEndsBehindTheFirstBytesAndGoesOn(t *testing.T) {
	client, inClient := tcpPair(t)
	inPeer, proxy := tcpPair(t)
	relayed := make(chan error, 1)
	go func() {
		n, err := copySocket(inClient, inPeer, func() bool { return true })
		if err == errBegun && n > 0 {
			_, err = copySocket(inClient, inPeer, nil)
		}
		relayed <- err
	}()
	for range 100 {
		send(t, proxy, "x")
		expect(t, client, "x")
	}
	_ = proxy.CloseWrite()
	if err := <-relayed; err != io.EOF {
		t.Errorf("the stream ended with %v", err)
	}
}

func TestPeerThatStallsHoldsNothingButItsOwnDirection(t *testing.T) {
	b := startRelay(t, NewRegistry(0, nil))
	go func() { // more than all buffers hold; nobody reads it
		for chunk := make([]byte, 1<<20); ; {
			if _, err := b.client.Write(chunk); err != nil {
				return
			}
		}
	}()
	expect(t, b.proxy, "\x00")
	for range 100 {
		send(t, b.proxy, "x")
		expect(t, b.client, "x")
	}
	reset(b.proxy)
	b.ended()
}

func TestWaitingTunnelCostsTwoGoroutines(t *testing.T) {
	leaktest.Watch(t)
	r := NewRegistry(0, nil)
	const count = 50
	before := runtime.NumGoroutine()
	for range count {
		client, inClient := tcpPair(t)
		inPeer, proxy := tcpPair(t)
		go r.start(&pair{client: inClient, upstream: inPeer}, inPeer, Unobserved{}, func(Traffic) {})
		send(t, client, "x")
		expect(t, proxy, "x")
		send(t, proxy, "x")
		expect(t, client, "x")
	}
	eventually(t, "each tunnel holds two goroutines", func() bool { return runtime.NumGoroutine()-before <= 2*count })
}

func TestBuffersGoBackToThePool(t *testing.T) {
	var fresh atomic.Int64
	made := buffers.New
	buffers.New = func() any { fresh.Add(1); return made() }
	defer func() { buffers.New = made }()
	b := startRelay(t, NewRegistry(0, nil))
	const rounds = 1000
	for range rounds {
		send(t, b.client, "x")
		expect(t, b.proxy, "x")
	}
	_ = b.client.Close()
	_ = b.proxy.Close()
	b.ended()
	// Each round takes two, one of them to find nothing. The race detector
	// makes the pool forget a quarter of what it is given.
	if n := fresh.Load(); n > rounds {
		t.Errorf("%d new buffers in %d rounds", n, rounds)
	}
}

func BenchmarkRelay(b *testing.B) {
	for _, test := range []struct {
		name string
		size int
	}{{"1KiB", 1 << 10}, {"1MiB", 1 << 20}} {
		b.Run(test.name, func(b *testing.B) {
			bench := startRelay(b, NewRegistry(0, nil))
			_ = bench.client.SetDeadline(time.Time{})
			_ = bench.proxy.SetDeadline(time.Time{})
			chunk, room := make([]byte, test.size), make([]byte, test.size)
			go func() { // echoes
				for echo := make([]byte, 64<<10); ; {
					n, err := bench.proxy.Read(echo)
					if err != nil {
						return
					}
					_, _ = bench.proxy.Write(echo[:n])
				}
			}()
			b.SetBytes(int64(2 * test.size))
			b.ReportAllocs()
			for b.Loop() {
				go func() { _, _ = bench.client.Write(chunk) }()
				if _, err := io.ReadFull(bench.client, room); err != nil {
					b.Fatal(err)
				}
			}
			reset(bench.client)
			bench.ended()
		})
	}
}

// A sandbox may forbid splice; the bytes then go through buffers.
func TestBulkPassesWhereNothingIsSpliced(t *testing.T) {
	for _, err := range []error{unix.EINVAL, unix.ENOSYS, unix.EPERM} {
		if !isUnknownCall(err) {
			t.Errorf("%v ends a tunnel", err)
		}
	}
	if isUnknownCall(unix.ECONNRESET) || isUnknownCall(io.EOF) {
		t.Error("an end of the connection is taken for a system that does not splice")
	}
}
