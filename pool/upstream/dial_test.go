package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/leaktest"
	"swivel/pool/upstream/listentest"
)

// blackHole returns a loopback port whose backlog is full, so that the kernel
// drops every SYN.
func blackHole(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	loopback := &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	if err := errors.Join(syscall.Bind(fd, loopback), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(bound.(*syscall.SockaddrInet4).Port))
	for range 64 {
		conn, err := net.DialTimeout("tcp", addr.String(), 50*time.Millisecond)
		if err != nil {
			return addr
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Fatal("this kernel does not drop what a full backlog cannot take")
	return addr
}

// withNames returns d, for which from now on every name has these addresses.
func withNames(d *Dialer, addrs ...string) *Dialer {
	d.names.lookup = func(context.Context, string) ([]netip.Addr, error) {
		var all []netip.Addr
		for _, a := range addrs {
			all = append(all, netip.MustParseAddr(a))
		}
		return all, nil
	}
	return d
}

func TestDialRefused(t *testing.T) {
	leaktest.Watch(t)
	for _, scheme := range []pool.Scheme{pool.HTTP, pool.HTTPS, pool.SOCKS4, pool.SOCKS5} {
		_, err := patient().Tunnel(background(t), specFor(scheme, listentest.Reserved(t, "127.0.0.1"), "user1:s3cret"), "a.test:80", 0)
		if SignalOf(err) != pool.DialRefused {
			t.Errorf("%v: %v", scheme, err)
		}
	}
}

func TestBlackHoleIsADialTimeout(t *testing.T) {
	leaktest.Watch(t)
	addr := blackHole(t)
	d := NewDialer(Timeouts{Dial: 50 * time.Millisecond})
	_, err := d.Tunnel(background(t), specFor(pool.HTTP, addr, ""), "a.test:80", 0)
	if SignalOf(err) != pool.DialTimeout {
		t.Errorf("got %v", err)
	}
}

// TestAllAddressesAreTried: one that swallows packets must leave the others
// their share of the time.
func TestAllAddressesAreTried(t *testing.T) {
	leaktest.Watch(t)
	hole := blackHole(t)
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.2:%d", hole.Port()))
	if err != nil {
		t.Fatal("no second loopback address:", err)
	}
	defer l.Close()
	d := withNames(NewDialer(Timeouts{Dial: time.Second}), "127.0.0.1", "::ffff:127.0.0.2")
	conn, err := d.Hop(background(t), &pool.Spec{Host: "proxy.test", Port: hole.Port()})
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

func TestFirstFailureSpeaksForAllAddresses(t *testing.T) {
	port := listentest.Reserved(t, "127.0.0.1").Port()
	d := withNames(patient(), "127.0.0.1", "127.0.0.2")
	_, err := d.Hop(background(t), &pool.Spec{Host: "proxy.test", Port: port})
	if SignalOf(err) != pool.DialRefused {
		t.Errorf("got %v", err)
	}
	noRoute := &Error{Signal: pool.LocalFault}
	refused := &Error{Signal: pool.DialRefused}
	failed := &Error{Signal: pool.DialFailed}
	if worse(nil, noRoute) != noRoute || worse(noRoute, refused) != refused || worse(refused, failed) != refused {
		t.Error("the wrong failure speaks")
	}
}

// TestFullDescriptorTableIsALocalFault: the fault of this process must not ban
// the pool.
func TestFullDescriptorTableIsALocalFault(t *testing.T) {
	addr := listentest.Reserved(t, "127.0.0.1")
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	low := old
	low.Cur = 128
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	var full []*os.File
	defer func() {
		for _, f := range full {
			_ = f.Close()
		}
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old)
	}()
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		full = append(full, f)
	}
	_, err := patient().Tunnel(background(t), specFor(pool.HTTP, addr, ""), "a.test:80", 0)
	if SignalOf(err) != pool.LocalFault || !errors.Is(err, syscall.EMFILE) {
		t.Errorf("got %v", err)
	}
}

func TestDialErrors(t *testing.T) {
	number := func(n syscall.Errno) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", n)}
	}
	for _, c := range []struct {
		err  error
		want pool.Signal
	}{
		{number(syscall.ECONNREFUSED), pool.DialRefused},
		{number(syscall.ETIMEDOUT), pool.DialTimeout},
		{&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, pool.DialTimeout},
		{context.DeadlineExceeded, pool.DialTimeout},
		{number(syscall.ECONNRESET), pool.DialFailed},
		{number(syscall.EHOSTUNREACH), pool.DialFailed},
		{number(syscall.EACCES), pool.DialFailed},
		{errors.New("anything"), pool.DialFailed},
		{number(syscall.EMFILE), pool.LocalFault},
		{number(syscall.ENFILE), pool.LocalFault},
		{number(syscall.EADDRNOTAVAIL), pool.LocalFault},
		{number(syscall.ENETUNREACH), pool.LocalFault},
		{number(syscall.ENOBUFS), pool.LocalFault},
	} {
		e := dialError(context.Background(), time.Now().Add(time.Hour), netip.Addr{}, c.err)
		if e.Signal != c.want || !errors.Is(e, c.err) && reason(c.err) == c.err {
			t.Errorf("%v: %v, want %v", c.err, e, c.want)
		}
	}
}

func TestNamesThatDoNotResolve(t *testing.T) {
	for _, c := range []struct {
		err  error
		want pool.Signal
	}{
		{&net.DNSError{Err: "no such host", IsNotFound: true}, pool.DialNoName},
		{&net.DNSError{Err: "server misbehaving", IsTemporary: true}, pool.DialNoName},
		// The name server's port is closed, not the proxy's.
		{&net.OpError{Op: "dial", Net: "udp", Err: syscall.ECONNREFUSED}, pool.DialNoName},
		{&net.DNSError{Err: "i/o timeout", IsTimeout: true}, pool.DialTimeout},
		{nil, pool.DialNoName},
	} {
		d := patient()
		d.names.lookup = func(context.Context, string) ([]netip.Addr, error) { return nil, c.err }
		_, err := d.Tunnel(background(t), &pool.Spec{Host: "proxy.test", Port: 1}, "a.test:80", 0)
		if SignalOf(err) != c.want {
			t.Errorf("%v: %v, want %v", c.err, err, c.want)
		}
	}
}

// TestTargetsAreNotResolved: our name server must not learn what clients visit.
func TestTargetsAreNotResolved(t *testing.T) {
	for _, r := range []row{httpRows()[0], socks5Rows()[0], socks5Rows()[1], socks4Rows()[0], socks4Rows()[2]} {
		addr, _ := serve(t, script{steps: r.steps}, normal, nil)
		d := patient()
		d.names.lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
			if host != "proxy.test" {
				t.Errorf("%v: looked up %s", r.scheme, host)
			}
			return []netip.Addr{addr.Addr()}, nil
		}
		p := specFor(r.scheme, addr, r.user)
		p.Host = "proxy.test"
		conn, err := d.Tunnel(background(t), p, "origin.test:443", 0)
		if err != nil {
			t.Errorf("%v: %v", r.scheme, err)
			continue
		}
		_ = conn.Close()
	}
}
