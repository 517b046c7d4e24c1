package listentest

import (
	"net/netip"
	"syscall"
	"testing"
)

// Reserved returns an address of the host, an IPv4 one of loopback, that refuses
// connections until somebody listens on it by its number, and again when they no
// longer do. Until the test ends the system gives its port to nobody: one that was
// merely found free others are given, and listen on.
func Reserved(t testing.TB, host string) netip.AddrPort {
	t.Helper()
	at, err := netip.ParseAddr(host)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	port, err := reserve(fd, at)
	if err != nil {
		t.Fatal(err)
	}
	return netip.AddrPortFrom(at, port)
}

// reserve binds the socket, which never listens. So it can share its port with one
// that does, if both of them allow that: most servers do, in order to start again
// while old connections last.
func reserve(fd int, at netip.Addr) (port uint16, err error) {
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: at.As4()}); err != nil {
		return 0, err
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, err
	}
	return uint16(bound.(*syscall.SockaddrInet4).Port), nil
}
