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
)

// chunk is the size of a relay buffer. A buffer is held only while bytes move.
const chunk = 16 << 10

// spliceAfter is how many full buffers in a row make a transfer a bulk one.
// Splice keeps a pipe pair (2 descriptors, and kernel memory) per direction,
// which pays only when much moves.
const spliceAfter = 16

// A stream that does not move spliceSlice bytes within splicePatience goes
// back to buffers.
const (
	spliceSlice    = 4 << 20
	splicePatience = 10 * time.Second
)

var buffers = sync.Pool{New: func() any { return new([chunk]byte) }}

// copyTCP relays src to dst until src ends, and returns the number of bytes; see
// relayOneWay for first. A waiting direction holds no buffer: readiness is
// awaited on the descriptor itself.
func copyTCP(dst io.Writer, src *net.TCPConn, first func() bool) (total int64, err error) {
	raw, err := src.SyscallConn()
	if err != nil {
		return 0, err
	}
	var r reader
	ready := r.read // one method value for all rounds
	full := 0
	for {
		r.once = first != nil && total > 0
		if err := raw.Read(ready); err != nil {
			return total, err
		}
		if r.n <= 0 {
			r.release()
			return total, r.end()
		}
		if total == 0 && first != nil && !first() {
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
		if err != nil {
			return total, writeError{err}
		}
		if full >= spliceAfter {
			full = 0
			if to := spliceTo(dst); to != nil {
				n, err := splice(to, src, splicePatience)
				total += n
				if err != nil {
					return total, err
				}
			}
		}
	}
}

// errWaits is the end of a copy that would have to wait for more.
var errWaits = errors.New("nothing to read now")

// errForbidden is the end of a copy whose first byte must not be passed on.
var errForbidden = errors.New("the tunnel has moved")

// spliceTo is the connection to which a bulk transfer can be left to the kernel;
// nil if there is none.
func spliceTo(dst io.Writer) *net.TCPConn {
	if v, ok := dst.(*verdict); ok {
		dst = v.fixedUpstream()
	}
	c, _ := dst.(*net.TCPConn)
	return c
}

// reader reads once when the descriptor is readable.
type reader struct {
	buf  *[chunk]byte
	n    int
	err  error
	once bool // do not wait
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
		return r.once
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
	switch {
	case r.err == unix.EAGAIN:
		return errWaits
	case r.err != nil:
		return r.err
	}
	return io.EOF
}

// splice relays in the kernel while much moves. It returns without an error
// when the stream has slowed down, so that an idle connection does not hold a
// pipe pair.
func splice(dst, src *net.TCPConn, patience time.Duration) (total int64, err error) {
	defer func() { _ = src.SetReadDeadline(time.Time{}) }()
	for {
		_ = src.SetReadDeadline(time.Now().Add(patience))
		n, err := io.CopyN(dst, src, spliceSlice)
		total += n
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// copyAny relays from a connection that is not plain TCP, which keeps what it
// has decrypted: only reading tells whether there is something to read.
func copyAny(dst io.Writer, src net.Conn, first func() bool) (total int64, err error) {
	buf := buffers.Get().(*[chunk]byte)
	defer buffers.Put(buf)
	for {
		n, err := src.Read(buf[:])
		if n > 0 {
			if total == 0 && first != nil && !first() {
				return 0, errForbidden
			}
			w, werr := dst.Write(buf[:n])
			total += int64(w)
			if werr != nil {
				return total, writeError{werr}
			}
		}
		if err != nil {
			return total, err
		}
	}
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
	if tcp := TCP(c); tcp != nil {
		c = tcp
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
func idleFor(c *net.TCPConn) (ms uint32, ok bool) {
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

// TCP finds the TCP connection under TLS, or the connection itself.
func TCP(c net.Conn) *net.TCPConn {
	switch c := c.(type) {
	case *net.TCPConn:
		return c
	case interface{ NetConn() net.Conn }:
		return TCP(c.NetConn())
	}
	return nil
}
