// Package systemd is what swivel and a service manager tell each other: sockets
// that were opened for swivel before it started, and when it is ready, reads its
// configuration again, and stops. Without such a manager everything here does
// nothing.
//
// The protocols are sd_listen_fds(3) and sd_notify(3).
package systemd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"

	"swivel/cmd/swivel/internal/config"
)

// Sockets are the sockets that were opened for swivel. Those that are nil it has
// to open itself. The connections that they accept have Go's keep-alive times: it
// takes four system calls more for each than with a socket of swivel's own.
type Sockets struct {
	Listen, Admin *net.TCPListener
}

// maxInherited is how many descriptors are looked at, to name those that do not fit:
// swivel has use for two. Each that LISTEN_FDS claims would cost memory and a call,
// whether it is there or not.
const maxInherited = 16

// Inherited takes over the sockets that this process was started with. It can be
// called once. The error names every socket that is none of swivel's.
func Inherited() (Sockets, error) {
	n, err := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	if err == nil && n > maxInherited && os.Getenv("LISTEN_PID") == strconv.Itoa(os.Getpid()) {
		return Sockets{}, fmt.Errorf("LISTEN_FDS=%d: want %d sockets at most; swivel uses those named listen and admin", n, maxInherited)
	}
	return named(activation.Files(true))
}

// named sorts sockets by their names. The files are closed.
func named(files []*os.File) (s Sockets, err error) {
	places := map[string]**net.TCPListener{"listen": &s.Listen, "admin": &s.Admin}
	var problems []error
	for _, file := range files {
		place := places[file.Name()]
		switch {
		case place == nil:
			problems = append(problems, fmt.Errorf("socket %s: want FileDescriptorName=listen or =admin in its unit", file.Name()))
		case *place != nil:
			problems = append(problems, fmt.Errorf("socket %s: there are several of that name, and swivel uses one", file.Name()))
		default:
			if *place, err = listening(file); err != nil {
				problems = append(problems, fmt.Errorf("socket %s: %w", file.Name(), err))
			}
		}
		_ = file.Close()
	}
	if len(problems) == 0 {
		return s, nil
	}
	s.close()
	return Sockets{}, errors.Join(problems...)
}

// listening makes a listener of a copy of the file.
func listening(file *os.File) (*net.TCPListener, error) {
	accepts, err := syscall.GetsockoptInt(int(file.Fd()), syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
	if err != nil {
		return nil, errors.New("it is no socket")
	}
	if accepts == 0 {
		return nil, errors.New("nobody can connect to it: want ListenStream= and Accept=no in its unit")
	}
	listener, err := net.FileListener(file)
	if err != nil {
		return nil, err
	}
	tcp, ok := listener.(*net.TCPListener)
	if !ok {
		_ = listener.Close()
		return nil, errors.New("want ListenStream= with an address and a port in its unit, not a path")
	}
	return tcp, nil
}

func (s Sockets) close() {
	for _, l := range []*net.TCPListener{s.Listen, s.Admin} {
		if l != nil {
			_ = l.Close()
		}
	}
}

// Override makes the configuration say where the sockets listen, so that it is
// judged by who can really reach swivel.
func (s Sockets) Override(c *config.Config) {
	if s.Listen != nil {
		c.Listen = s.Listen.Addr().String()
	}
	if s.Admin != nil {
		c.Admin = s.Admin.Addr().String()
	}
}
