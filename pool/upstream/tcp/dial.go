package tcp

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"swivel/pool/upstream/lifetime"
)

// Dial connects to addr. It gives up at the deadline, and when ctx ends. Its error
// wraps os.ErrDeadlineExceeded for the one, ctx's error for the other, and else
// what the kernel says, a syscall.Errno.
//
// It does not bind: a port that is chosen by bind cannot be shared by connections
// to different addresses, so that a busy machine runs out of ports.
func Dial(ctx context.Context, addr netip.AddrPort, deadline time.Time) (*Conn, error) {
	addr = netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
	c, err := dial(ctx, addr, deadline)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(addr), Err: err}
	}
	return c, nil
}

func dial(ctx context.Context, addr netip.AddrPort, deadline time.Time) (*Conn, error) {
	family, to := sockaddr(addr)
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	// A signal that comes in between does not stop the kernel: EINTR is no end.
	if err := unix.Connect(fd, to); err != nil && err != unix.EINPROGRESS && err != unix.EINTR {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("connect", err)
	}
	c := &Conn{file: os.NewFile(uintptr(fd), "tcp"), remote: addr}
	if c.raw, err = c.file.SyscallConn(); err == nil {
		err = c.await(ctx, fd, deadline)
	}
	if err != nil {
		_ = c.file.Close()
		return nil, err
	}
	return c, nil
}

func sockaddr(addr netip.AddrPort) (family int, sa unix.Sockaddr) {
	ip, port := addr.Addr(), int(addr.Port())
	if ip.Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: ip.As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: port, Addr: ip.As16(), ZoneId: zone(ip.Zone())}
}

// zone is the number of an interface, which may be given by name.
func zone(name string) uint32 {
	if name == "" {
		return 0
	}
	if i, err := net.InterfaceByName(name); err == nil {
		return uint32(i.Index)
	}
	n, _ := strconv.ParseUint(name, 10, 32)
	return uint32(n)
}

// await waits until the socket is connected. One to the same machine is already.
func (c *Conn) await(ctx context.Context, fd int, deadline time.Time) error {
	done, err := c.connected(fd)
	if done || err != nil {
		return err
	}
	_ = c.file.SetWriteDeadline(deadline)
	hook := lifetime.AfterFunc(ctx, func() { _ = c.file.SetWriteDeadline(time.Unix(1, 0)) })
	wait := c.raw.Write(func(fd uintptr) bool {
		done, err = c.connected(int(fd))
		return done || err != nil
	})
	switch {
	case !hook.Stop() && err == nil: // the socket may get the deadline in the past at any time
		return ctx.Err()
	case wait != nil:
		return wait
	}
	_ = c.file.SetWriteDeadline(time.Time{})
	return err
}

// connected asks how a connect is going.
func (c *Conn) connected(fd int) (done bool, err error) {
	if _, err := syscall.Getpeername(fd); err == nil { // x/sys asks for the protocol, too
		return true, c.toItself(fd)
	}
	switch errno, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR); {
	case err != nil:
		return false, os.NewSyscallError("getsockopt", err)
	case errno != 0:
		return false, os.NewSyscallError("connect", syscall.Errno(errno))
	}
	return false, nil
}

// toItself refuses a socket that is its own peer: a connect to a port of this
// machine on which nobody listens meets itself when the kernel has just chosen
// that port for it (simultaneous open, RFC 9293 section 3.5).
func (c *Conn) toItself(fd int) error {
	if !c.remote.Addr().IsLoopback() {
		return nil
	}
	if local, ok := localAddr(fd); ok && local == c.remote {
		return os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}
	return nil
}
