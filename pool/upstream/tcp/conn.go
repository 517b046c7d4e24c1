// Package tcp opens TCP connections for less than package net does.
//
// A connection to a proxy is made for every tunnel. net.Dialer takes the address
// as a text and a context apart for it, waits for a socket that is connected
// already, as one on the same machine is at once, and asks the kernel for the two
// addresses of the connection, which nobody wants to know. Measured around one
// tunnel with 1 KiB, that was 5 us of 112.
//
// A [Conn] is an os.File underneath, so waiting, deadlines and closing are the
// runtime's.
//
//	conn, err := tcp.Dial(ctx, netip.MustParseAddrPort("192.0.2.1:3128"), time.Now().Add(5*time.Second))
package tcp

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is an open TCP connection, as net.TCPConn is one: the errors are the same.
// It is safe for concurrent use. The zero value is not usable; see [Dial].
type Conn struct {
	file   *os.File
	raw    syscall.RawConn
	remote netip.AddrPort
}

// Socket is what a *Conn and a *net.TCPConn have in common.
type Socket interface {
	net.Conn
	syscall.Conn
	CloseWrite() error
}

// Under returns the socket of a connection: that below TLS, or the connection
// itself. It is nil if there is none.
func Under(c net.Conn) Socket {
	switch c := c.(type) {
	case Socket:
		return c
	case interface{ NetConn() net.Conn }:
		return Under(c.NetConn())
	}
	return nil
}

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.file.Read(b)
	if err != nil && err != io.EOF {
		err = c.failed("read", err)
	}
	return n, err
}

// Write implements net.Conn.
func (c *Conn) Write(b []byte) (int, error) {
	n, err := c.file.Write(b)
	if err != nil {
		err = c.failed("write", err)
	}
	return n, err
}

// Close implements net.Conn.
func (c *Conn) Close() error { return c.failed("close", c.file.Close()) }

// CloseWrite ends the writing side: the peer reads an end and can still answer.
func (c *Conn) CloseWrite() error {
	var err error
	if closed := c.raw.Control(func(fd uintptr) { err = unix.Shutdown(int(fd), unix.SHUT_WR) }); closed != nil {
		err = net.ErrClosed
	}
	return c.failed("close", err)
}

// failed is err as package net would put it.
func (c *Conn) failed(op string, err error) error {
	if err == nil {
		return nil
	}
	if path, ok := err.(*os.PathError); ok {
		err = path.Err
	}
	if err == os.ErrClosed {
		err = net.ErrClosed
	}
	return &net.OpError{Op: op, Net: "tcp", Addr: c.RemoteAddr(), Err: err}
}

// LocalAddr implements net.Conn. It asks the kernel; nil if that does not know.
func (c *Conn) LocalAddr() net.Addr {
	var addr net.Addr
	_ = c.raw.Control(func(fd uintptr) {
		if local, ok := localAddr(int(fd)); ok {
			addr = net.TCPAddrFromAddrPort(local)
		}
	})
	return addr
}

// Remote is the address that was dialled.
func (c *Conn) Remote() netip.AddrPort { return c.remote }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error { return c.set(c.file.SetDeadline(t)) }

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.set(c.file.SetReadDeadline(t)) }

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.set(c.file.SetWriteDeadline(t)) }

// set names the one fault that setting a deadline can have.
func (c *Conn) set(err error) error {
	if err != nil {
		err = net.ErrClosed
	}
	return c.failed("set", err)
}

// SyscallConn implements syscall.Conn.
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return (*rawConn)(c), nil }

// rawConn is a Conn as a syscall.RawConn. That of an os.File says of a file that
// was closed what nobody can recognize: not os.ErrClosed, and not net.ErrClosed.
type rawConn Conn

// Control implements syscall.RawConn.
func (c *rawConn) Control(f func(fd uintptr)) error {
	return c.failed("raw-control", c.raw.Control(f))
}

// Read implements syscall.RawConn.
func (c *rawConn) Read(f func(fd uintptr) bool) error { return c.failed("raw-read", c.raw.Read(f)) }

// Write implements syscall.RawConn.
func (c *rawConn) Write(f func(fd uintptr) bool) error {
	return c.failed("raw-write", c.raw.Write(f))
}

// failed: but for deadlines nothing makes these calls fail but a Close.
func (c *rawConn) failed(op string, err error) error {
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		err = net.ErrClosed
	}
	return (*Conn)(c).failed(op, err)
}

func localAddr(fd int) (netip.AddrPort, bool) {
	sa, err := syscall.Getsockname(fd)
	if err != nil {
		return netip.AddrPort{}, false
	}
	switch sa := sa.(type) {
	case *syscall.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port)), true
	case *syscall.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port)), true
	}
	return netip.AddrPort{}, false
}
