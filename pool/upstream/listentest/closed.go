package listentest

import (
	"errors"
	"net/netip"
	"syscall"
	"testing"
)

// Closed returns an address that refuses connections until the test ends. The port
// is taken meanwhile: one that was merely found free others may take, and listen.
func Closed(t testing.TB) netip.AddrPort {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	loopback := [4]byte{127, 0, 0, 1}
	bound, err := bind(fd, &syscall.SockaddrInet4{Addr: loopback})
	if err != nil {
		t.Fatal(err)
	}
	return netip.AddrPortFrom(netip.AddrFrom4(loopback), uint16(bound.Port))
}

func bind(fd int, to *syscall.SockaddrInet4) (bound *syscall.SockaddrInet4, err error) {
	if err := syscall.Bind(fd, to); err != nil {
		return nil, err
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		return nil, err
	}
	bound, ok := at.(*syscall.SockaddrInet4)
	if !ok {
		return nil, errors.New("the socket has an address of another family")
	}
	return bound, nil
}
