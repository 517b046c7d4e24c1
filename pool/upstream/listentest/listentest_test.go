package listentest

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
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

// TestReservedRefusesUntilSomebodyListens, and again: twice, for a listener that
// has closed must not have taken the reservation with it.
func TestReservedRefusesUntilSomebodyListens(t *testing.T) {
	address := Reserved(t, "127.0.0.21").String()
	for range 2 {
		if _, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("a connection: %v", err)
		}
		ln, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal("whom it is for:", err)
		}
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		if _, err := net.Listen("tcp", address); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("somebody else's listener: %v", err)
		}
		_ = ln.Close()
	}
}

// TestNobodyIsGivenAReservedPort: neither a listener nor a connection, and be it the
// only port that there is.
func TestNobodyIsGivenAReservedPort(t *testing.T) {
	port := int(Reserved(t, "127.0.0.22").Port())
	only := func(_, _ string, c syscall.RawConn) (err error) {
		bad := c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_LOCAL_PORT_RANGE, port<<16|port)
		})
		return errors.Join(bad, err)
	}
	for _, at := range []string{"127.0.0.22:0", "0.0.0.0:0"} {
		ln, err := (&net.ListenConfig{Control: only}).Listen(t.Context(), "tcp4", at)
		if errors.Is(err, unix.ENOPROTOOPT) {
			t.Skip("IP_LOCAL_PORT_RANGE takes Linux 6.3")
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("a listener on %s: %v, %v", at, ln, err)
		}
	}
	if conn, err := (&net.Dialer{Control: only}).Dial("tcp4", Serve(t, func(net.Conn) {})); !errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.Errorf("a connection: %v, %v", conn, err)
	}
}
