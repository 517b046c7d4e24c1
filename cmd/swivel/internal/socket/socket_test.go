package socket

import (
	"net"
	"testing"
)

func TestIPv4AddressWasListenedOnWithIPv6Too(t *testing.T) {
	ln, err := Listen(t.Context(), &net.ListenConfig{}, "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	addr := ln.Addr().(*net.TCPAddr)
	if addr.IP.String() != "0.0.0.0" {
		t.Errorf("listens on %v", addr)
	}
	conn, err := net.Dial("tcp4", (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: addr.Port}).String())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if conn, err := net.Dial("tcp6", (&net.TCPAddr{IP: net.IPv6loopback, Port: addr.Port}).String()); err == nil {
		_ = conn.Close()
		t.Error("can be reached over IPv6")
	}
}

func TestOnlyAnIPv4AddressNarrowsWhatIsListenedOn(t *testing.T) {
	for address, want := range map[string]string{
		"0.0.0.0:1": "tcp4", "127.0.0.1:http": "tcp4",
		"[::]:1": "tcp", "[::1]:1": "tcp", ":1": "tcp", "localhost:1": "tcp", "[::ffff:127.0.0.1]:1": "tcp", "nothing": "tcp",
	} {
		if got := network(address); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}
