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

// HungUp asks whether the peer of a socket has shut down or reset the connection,
// without touching what it sent before.
func HungUp(fd int) bool { _, ended := look(fd); return ended }

// Look asks what is to be read from a socket now: whether there are bytes, and
// whether the peer has ended the connection. It takes nothing and does not wait.
func Look(s Socket) (bytes, ended bool) {
	raw, err := s.SyscallConn()
	if err != nil {
		return false, true
	}
	if err := raw.Control(func(fd uintptr) { bytes, ended = look(int(fd)) }); err != nil {
		return false, true
	}
	return bytes, ended
}

func look(fd int) (bytes, ended bool) {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLRDHUP}}
	n, err := unix.Poll(p, 0)
	if err != nil || n == 0 {
		return false, false
	}
	return p[0].Revents&unix.POLLIN != 0, p[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
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
