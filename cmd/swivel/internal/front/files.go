package front

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// isPassing tells errors that more descriptors or the next client mend.
func isPassing(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM) ||
		errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.EINTR)
}

// maxRefusing bounds the connections that are told that swivel is full, and are
// waited for to have read that; those beyond it are closed at once.
const maxRefusing = 256

// spareFiles are descriptors that clients do not get, as long as that can be
// helped: without any the database cannot be opened again, nor a list be read,
// and whoever comes is not even told why nobody answers.
func (s Settings) spareFiles() int { return max(32, s.Files/16) }

func (f *Front) mayRefuse() int {
	if f.Settings.Files == 0 {
		return maxRefusing
	}
	return min(maxRefusing, f.Settings.spareFiles()/2)
}

// filesEach is more than what one client needs: its connection, those to proxies
// with a second one on the way, and two pipes for bulk.
const filesEach = 8

// errScarce is what the log says before it comes to EMFILE.
var errScarce = errors.New("few descriptors are left")

// isScarce says whether the descriptors are about to run out, which the number
// of a new connection tells: it is the lowest that is free. mu is held.
func (f *Front) isScarce(c *net.TCPConn) bool {
	if f.Settings.Files == 0 || len(f.conns) < (f.Settings.Files-f.Settings.spareFiles())/filesEach {
		return false
	}
	number := uintptr(0)
	raw, err := c.SyscallConn()
	if err != nil || raw.Control(func(fd uintptr) { number = fd }) != nil {
		return false
	}
	if int(number) < f.Settings.Files-f.Settings.spareFiles() {
		return false
	}
	f.warnOfFiles(errScarce, 0)
	return true
}

// warnEvery is how often the log says that descriptors are missing.
const warnEvery = 10 * time.Second

// warnOfFiles has the log say that clients are sent away, or have to wait. mu is
// held.
func (f *Front) warnOfFiles(err error, pause time.Duration) {
	if now := time.Now(); now.Sub(f.warned) >= warnEvery {
		f.warned = now
		f.Log.AcceptFailed(err, pause)
	}
}
