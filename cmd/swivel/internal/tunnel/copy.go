package tunnel

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"swivel/pool/upstream/tcp"
)

// chunk is the size of a relay buffer. A buffer is held only while bytes move.
const chunk = 16 << 10

var buffers = sync.Pool{New: func() any { return new([chunk]byte) }}

// copySocket relays src to dst until src ends, and returns the number of bytes; see
// relayOneWay for first. A waiting direction holds no buffer: readiness is
// awaited on the descriptor itself.
func copySocket(dst io.Writer, src tcp.Socket, first func() bool) (total int64, err error) {
	raw, err := src.SyscallConn()
	if err != nil {
		return 0, err
	}
	var r reader
	ready := r.read // one method value for all rounds
	full := 0
	for {
		if err := raw.Read(ready); err != nil {
			return total, err
		}
		if r.n <= 0 {
			r.release()
			return total, r.end()
		}
		if first != nil && !first() {
			r.release()
			return 0, errForbidden
		}
		n, err := dst.Write(r.buf[:r.n])
		total += int64(n)
		if r.n == chunk {
			full++
		} else {
			full = 0
		}
		r.release()
		switch {
		case err != nil:
			return total, writeError{err}
		case first != nil:
			return total, errBegun
		case full < spliceAfter:
			continue
		}
		full = 0
		moved, err := spliceOn(dst, src)
		if total += moved; err != nil {
			return total, err
		}
	}
}

// errBegun is the end of a copy whose first bytes have passed. There may be more:
// whether there is, its continuation will see, and one read that finds nothing is
// saved.
var errBegun = errors.New("the first bytes have passed")

// errForbidden is the end of a copy whose first byte must not be passed on.
var errForbidden = errors.New("the tunnel has moved")

// reader reads once when the descriptor is readable.
type reader struct {
	buf *[chunk]byte
	n   int
	err error
}

// read is the callback of syscall.RawConn.Read: false means "wait until it is
// readable and call me again".
func (r *reader) read(fd uintptr) bool {
	r.buf = buffers.Get().(*[chunk]byte)
	for {
		r.n, r.err = unix.Read(int(fd), r.buf[:])
		if r.err != unix.EINTR {
			break
		}
	}
	if r.err == unix.EAGAIN {
		r.release()
		return false
	}
	return true
}

func (r *reader) release() {
	if r.buf != nil {
		buffers.Put(r.buf)
		r.buf = nil
	}
}

func (r *reader) end() error {
	if r.err != nil {
		return r.err
	}
	return io.EOF
}

// copyAny relays from a connection that is no socket, which keeps what it has
// decrypted: only reading tells whether there is something to read. It waits with
// room for one byte, and takes a buffer when that has come.
func copyAny(dst io.Writer, src net.Conn, first func() bool) (total int64, err error) {
	var one [1]byte
	for {
		n, err := src.Read(one[:])
		if n > 0 {
			if first != nil && !first() {
				return total, errForbidden
			}
			var passed int64
			passed, err = passRest(dst, src, one[0])
			total += passed
		}
		switch {
		case err != nil:
			return total, err
		case first != nil:
			return total, errBegun
		}
	}
}

// passRest passes on a byte and what its connection has decrypted beside it.
func passRest(dst io.Writer, src net.Conn, one byte) (passed int64, err error) {
	buf := buffers.Get().(*[chunk]byte)
	defer buffers.Put(buf)
	buf[0] = one
	// A time that is over keeps it from waiting for more, and TLS goes on behind that.
	_ = src.SetReadDeadline(time.Unix(1, 0))
	n, err := src.Read(buf[1:])
	_ = src.SetReadDeadline(time.Time{})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	w, failed := dst.Write(buf[:n+1])
	if failed != nil {
		err = writeError{failed}
	}
	return int64(w), err
}

// closeWrite passes a FIN on; a TLS connection sends close_notify and keeps
// the socket, which is as near as TLS comes.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// cut closes at once, and without the leave that TLS takes: that says that
// nothing is missing, and may wait for a peer that reads nothing.
func cut(c net.Conn) {
	if socket := tcp.Under(c); socket != nil {
		c = socket
	}
	_ = c.Close()
}

// writeError marks an error of the side that is written to.
type writeError struct{ error }

func (e writeError) Unwrap() error { return e.error }

// isEOF says whether a direction ended in order.
func isEOF(err error) bool { return errors.Is(err, io.EOF) }

// idleFor asks the kernel how long ago the connection last received data, so
// that the relay need not keep account of every chunk.
func idleFor(c tcp.Socket) (ms uint32, ok bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = raw.Control(func(fd uintptr) {
		info, e := unix.GetsockoptTCPInfo(int(fd), syscall.IPPROTO_TCP, unix.TCP_INFO)
		if e == nil {
			ms, ok = info.Last_data_recv, true
		}
	})
	return ms, ok && err == nil
}
