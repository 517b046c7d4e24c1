package tcp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"swivel/pool/upstream/listentest"

	"golang.org/x/net/nettest"
	"golang.org/x/sys/unix"
)

func soon() time.Time { return time.Now().Add(10 * time.Second) }

// listener is a socket on loopback.
func listener(t testing.TB, network, at string) (*net.TCPListener, netip.AddrPort) {
	t.Helper()
	ln, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln.(*net.TCPListener), ln.Addr().(*net.TCPAddr).AddrPort()
}

// TestConnIsANetConn runs the tests that all connections have to pass.
func TestConnIsANetConn(t *testing.T) {
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		ln, addr := listener(t, "tcp", "127.0.0.1:0")
		dialed, err := Dial(t.Context(), addr, soon())
		if err != nil {
			return nil, nil, nil, err
		}
		accepted, err := ln.Accept()
		if err != nil {
			return nil, nil, nil, err
		}
		return dialed, accepted, func() { _, _ = dialed.Close(), accepted.Close() }, nil
	})
}

func TestAddressesOfAConnection(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		ln, addr := listener(t, "tcp", at)
		c, err := Dial(t.Context(), addr, soon())
		if err != nil {
			t.Fatal(err)
		}
		peer, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if c.RemoteAddr().String() != addr.String() || c.LocalAddr().String() != peer.RemoteAddr().String() {
			t.Errorf("from %v to %v, want from %v to %v", c.LocalAddr(), c.RemoteAddr(), peer.RemoteAddr(), addr)
		}
		_ = c.Close()
		_ = peer.Close()
		if c.LocalAddr() != nil {
			t.Error("a closed connection has an address")
		}
	}
}

func TestIPv4AddressInIPv6Notation(t *testing.T) {
	_, addr := listener(t, "tcp4", "127.0.0.1:0")
	c, err := Dial(t.Context(), netip.AddrPortFrom(netip.AddrFrom16(addr.Addr().As16()), addr.Port()), soon())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

func TestHalfCloseLetsTheAnswerThrough(t *testing.T) {
	ln, addr := listener(t, "tcp", "127.0.0.1:0")
	c, err := Dial(t.Context(), addr, soon())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		asked, _ := io.ReadAll(peer)
		_, _ = peer.Write(bytes.ToUpper(asked))
		_ = peer.Close()
	}()
	_, _ = c.Write([]byte("question"))
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); err != nil || string(got) != "QUESTION" {
		t.Errorf("read %q, %v", got, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"Close": c.Close(), "CloseWrite": c.CloseWrite(), "SetDeadline": c.SetDeadline(time.Time{})} {
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s of a closed connection: %v, want net.ErrClosed", what, err)
		}
	}
}

// TestErrorsAreThoseOfPackageNet compares what both say of the same fault.
func TestErrorsAreThoseOfPackageNet(t *testing.T) {
	closed := listentest.Reserved(t, "127.0.0.1")
	_, mine := Dial(t.Context(), closed, soon())
	_, theirs := net.Dial("tcp", closed.String())
	if !errors.Is(mine, syscall.ECONNREFUSED) || mine.Error() != theirs.Error() {
		t.Errorf("%v, want %v", mine, theirs)
	}
	resets, addr := listener(t, "tcp", "127.0.0.1:0")
	c, err := Dial(t.Context(), addr, soon())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Unix(1, 0))
	var timeout net.Error
	if _, err := c.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a deadline in the past: %v", err)
	}
	_ = c.SetReadDeadline(time.Time{})
	peer, err := resets.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = peer.(*net.TCPConn).SetLinger(0)
	_ = peer.Close()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a reset: %v", err)
	}
}

// full is an address at which connecting takes for ever: the queue of the socket
// that listens there is full.
func full(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	addr, _ := localAddr(fd)
	for range 3 {
		c, err := Dial(t.Context(), addr, time.Now().Add(100*time.Millisecond))
		if err != nil {
			return addr
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	t.Fatal("the queue does not fill")
	return addr
}

func TestConnectingEndsInTime(t *testing.T) {
	addr := full(t)
	if _, err := Dial(t.Context(), addr, time.Now().Add(50*time.Millisecond)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("at the deadline: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := Dial(ctx, addr, soon()); !errors.Is(err, context.Canceled) {
		t.Errorf("when it is no longer wanted: %v", err)
	}
	if _, err := Dial(ctx, addr, soon()); !errors.Is(err, context.Canceled) {
		t.Errorf("when it never was: %v", err)
	}
}

func TestSocketThatMeetsItselfIsNotConnected(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	loopback := &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	if err := unix.Bind(fd, loopback); err != nil {
		t.Fatal(err)
	}
	self, _ := localAddr(fd)
	loopback.Port = int(self.Port())
	if err := unix.Connect(fd, loopback); err != nil {
		t.Fatal(err)
	}
	c := &Conn{remote: self}
	if _, err := c.connected(fd); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("error %v, want a refusal: nobody listens there", err)
	}
}

func TestSocketUnderTLS(t *testing.T) {
	_, addr := listener(t, "tcp", "127.0.0.1:0")
	c, err := Dial(t.Context(), addr, soon())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if Under(tls.Client(c, &tls.Config{})) != Socket(c) || Under(c) != Socket(c) || Under(a) != nil {
		t.Error("the wrong socket")
	}
}

func BenchmarkDial(b *testing.B) {
	ln, addr := listener(b, "tcp", "127.0.0.1:0")
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	dialers := map[string]func() (net.Conn, error){
		"tcp": func() (net.Conn, error) { return Dial(b.Context(), addr, soon()) },
		"net": func() (net.Conn, error) {
			return (&net.Dialer{KeepAlive: -1}).DialContext(b.Context(), "tcp", addr.String())
		},
	}
	for _, name := range []string{"net", "tcp"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c, err := dialers[name]()
				if err != nil {
					b.Fatal(err)
				}
				_ = c.Close()
			}
		})
	}
}

// TestConnThatWasClosedHereIsNotTakenForOneThatItsPeerEnded is for who waits on the
// descriptor itself, as tunnels do.
func TestConnThatWasClosedHereIsNotTakenForOneThatItsPeerEnded(t *testing.T) {
	ln, addr := listener(t, "tcp", "127.0.0.1:0")
	for name, end := range map[string]func(*Conn){
		"while it waits": func(c *Conn) { time.AfterFunc(10*time.Millisecond, func() { _ = c.Close() }) },
		"before":         func(c *Conn) { _ = c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Dial(t.Context(), addr, soon())
			if err != nil {
				t.Fatal(err)
			}
			peer, err := ln.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer peer.Close()
			raw, _ := c.SyscallConn()
			end(c)
			if err := raw.Read(func(uintptr) bool { return false }); !errors.Is(err, net.ErrClosed) {
				t.Errorf("reading it ended with %v", err)
			}
			if err := raw.Control(func(uintptr) {}); !errors.Is(err, net.ErrClosed) {
				t.Errorf("asking it ended with %v", err)
			}
		})
	}
}
