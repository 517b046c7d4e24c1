// Package namedfile reads files that somebody has named in a configuration, which may
// be anything: a pipe that nobody writes to, or a device without an end. Reading such
// a one fails and does not hold up a reload, nor the end of the process.
//
// Its errors are the reason alone: whoever reports one has named the file.
package namedfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What is read at once is not longer, and has that long to come.
const (
	longest = 64 << 20
	patient = 30 * time.Second
)

// Open opens a file to be read. A named pipe that nobody writes to is as an empty
// file.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return f, Reason(err)
}

// Await waits until somebody writes to f, which Open has returned, if it is a named
// pipe: for half a minute at most.
func Await(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return Reason(err)
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return Reason(err)
	}
	_ = f.SetReadDeadline(time.Now().Add(patient))
	defer func() { _ = f.SetReadDeadline(time.Time{}) }()
	err = raw.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n != 0 && err != unix.EINTR
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("it is a pipe that nobody has written to for %v", patient)
	}
	return Reason(err)
}

// Read returns what is in a file.
func Read(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	_ = f.SetReadDeadline(time.Now().Add(patient)) // true files have none, and need none
	text, err := io.ReadAll(io.LimitReader(f, longest+1))
	if len(text) > longest {
		return nil, fmt.Errorf("it is longer than %d MiB", longest>>20)
	}
	return text, Reason(err)
}

// Reason is an error of package os without the operation and the path; nil of none.
func Reason(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}
