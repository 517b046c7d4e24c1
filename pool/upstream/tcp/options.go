package tcp

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// KeepAlive has the kernel probe the peer of a connection that is silent for as
// long as idle, in whole seconds. How often and how many times stays the
// kernel's choice: to set them would be two more system calls, to find a dead
// peer some minutes earlier. A connection without a socket is left alone.
func KeepAlive(c net.Conn, idle time.Duration) {
	control(c, func(fd int) {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, int(idle.Seconds()))
	})
}

// Reset closes a connection so that its peer learns that it was not in order. A
// connection without a socket is left alone.
func Reset(c net.Conn) {
	control(c, func(fd int) {
		_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	})
	if socket := Under(c); socket != nil {
		_ = socket.Close()
	}
}

// control calls f with the descriptor of the connection's socket, unless that is
// closed.
func control(c net.Conn, f func(fd int)) {
	socket := Under(c)
	if socket == nil {
		return
	}
	if raw, err := socket.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { f(int(fd)) })
	}
}
