package listentest

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestNobodyIsServedBehindTheEnd: a handler that waits for its peer is ended.
func TestNobodyIsServedBehindTheEnd(t *testing.T) {
	var ended atomic.Bool
	var address string
	var conn net.Conn // open until the server has ended
	if !t.Run("inner", func(t *testing.T) {
		address = Serve(t, func(conn net.Conn) {
			_, _ = io.WriteString(conn, "hello")
			_, _ = io.Copy(io.Discard, conn)
			ended.Store(true)
		})
		var err error
		if conn, err = net.Dial("tcp", address); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 5)); err != nil {
			t.Fatal(err)
		}
	}) {
		return
	}
	defer conn.Close()
	if !ended.Load() {
		t.Error("the handler still runs")
	}
	if again, err := net.Dial("tcp", address); err == nil {
		_ = again.Close()
		t.Error("it still listens")
	}
}

func TestClosedRefusesAndKeepsItsPort(t *testing.T) {
	closed := Closed(t)
	if _, err := net.Dial("tcp", closed.String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a connection: %v", err)
	}
	if _, err := net.Listen("tcp", closed.String()); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("somebody else's listener: %v", err)
	}
}
