// Package listentest has tests listen on loopback.
package listentest

import (
	"net"
	"sync"
	"testing"
)

// Serve gives each connection to handle, which need not close it and may run many
// times at once, and returns the address (host:port). When the test ends it closes
// everything, and waits for handle.
func Serve(t testing.TB, handle func(net.Conn)) (address string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{open: map[net.Conn]struct{}{}}
	s.serving.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			s.serving.Go(func() { s.serve(conn, handle) })
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		s.close()
		s.serving.Wait()
	})
	return ln.Addr().String()
}

type server struct {
	serving sync.WaitGroup

	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

func (s *server) serve(conn net.Conn, handle func(net.Conn)) {
	defer conn.Close()
	s.mu.Lock()
	closed := s.closed
	s.open[conn] = struct{}{}
	s.mu.Unlock()
	if !closed {
		handle(conn)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, conn)
}

func (s *server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for conn := range s.open {
		_ = conn.Close()
	}
}
