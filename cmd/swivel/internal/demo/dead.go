package demo

import (
	"io"
	"net/netip"
	"os"
	"syscall"
)

// reservePort takes a port of 127.0.0.1 that refuses connections until the
// closer is closed.
//
// The socket is bound and never listens: the kernel refuses connections to it
// and gives its port to nobody else. The port of a listener that was closed
// would refuse too, but only until some other program is given it, or a
// connection out of this process happens to leave from it.
func reservePort() (io.Closer, netip.AddrPort, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, netip.AddrPort{}, os.NewSyscallError("socket", err)
	}
	socket := os.NewFile(uintptr(fd), "reserved port")
	loopback := [4]byte{127, 0, 0, 1}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: loopback}); err != nil {
		_ = socket.Close()
		return nil, netip.AddrPort{}, os.NewSyscallError("bind", err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		_ = socket.Close()
		return nil, netip.AddrPort{}, os.NewSyscallError("getsockname", err)
	}
	port := name.(*syscall.SockaddrInet4).Port
	return socket, netip.AddrPortFrom(netip.AddrFrom4(loopback), uint16(port)), nil
}
