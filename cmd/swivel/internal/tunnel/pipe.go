package tunnel

import (
	"syscall"

	"golang.org/x/sys/unix"

	"swivel/pool/upstream/tcp"
)

// pipe is what splice(2) moves bytes through, from one socket to another. It
// belongs to one goroutine.
type pipe struct {
	out, in  int // descriptors: bytes come out of the one and go into the other
	held     int // bytes inside
	src, dst syscall.RawConn

	// Method values of the two below, made once for all their calls.
	taking, giving func(fd uintptr) bool
	n              int
	err            error
}

func newPipe(dst, src tcp.Socket) (*pipe, error) {
	p := &pipe{}
	var err error
	if p.src, err = src.SyscallConn(); err != nil {
		return nil, err
	}
	if p.dst, err = dst.SyscallConn(); err != nil {
		return nil, err
	}
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, err
	}
	p.out, p.in = fds[0], fds[1]
	_, _ = unix.FcntlInt(uintptr(p.in), unix.F_SETPIPE_SZ, pipeSize) // or it stays as large as it is
	p.taking, p.giving = p.take, p.give
	return p, nil
}

func (p *pipe) close() {
	_ = unix.Close(p.out)
	_ = unix.Close(p.in)
}

// fill waits for bytes of the source and takes them into the empty pipe; none at
// its end.
func (p *pipe) fill() (n int, err error) {
	if err := p.src.Read(p.taking); err != nil {
		return 0, err
	}
	if p.err != nil {
		return 0, p.err
	}
	p.held = p.n
	return p.n, nil
}

// drain gives all bytes to the destination, and waits for that to take them.
func (p *pipe) drain() (n int64, err error) {
	for p.held > 0 {
		if err := p.dst.Write(p.giving); err != nil {
			return n, err
		}
		if p.err != nil {
			return n, p.err
		}
		p.held -= p.n
		n += int64(p.n)
	}
	return n, nil
}

// take is the callback of syscall.RawConn.Read: false means "again when it is
// readable". The pipe is empty, so it is the socket that has nothing.
func (p *pipe) take(fd uintptr) bool { return p.move(int(fd), p.in, pipeSize) }

// give is that of Write.
func (p *pipe) give(fd uintptr) bool { return p.move(p.out, int(fd), p.held) }

func (p *pipe) move(from, to, most int) bool {
	for {
		var n int64
		n, p.err = unix.Splice(from, nil, to, nil, most, unix.SPLICE_F_NONBLOCK|unix.SPLICE_F_MOVE)
		p.n = int(n)
		if p.err != unix.EINTR {
			return p.err != unix.EAGAIN
		}
	}
}
