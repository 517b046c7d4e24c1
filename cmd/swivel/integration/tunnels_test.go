package integration

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// tunnel is a client's end of an open CONNECT to an echo.
type tunnel struct {
	net.Conn
	br *bufio.Reader
}

// newEcho returns the address of a server that sends back what it gets.
func newEcho(t testing.TB) (hostPort string) {
	t.Helper()
	echo := newToy(t, "127.0.0.33")
	echo.open(t, func(c net.Conn) { _, _ = io.Copy(c, c) })
	return echo.hostPort
}

// openTunnel connects to the target through the proxy.
func openTunnel(t testing.TB, proxy, target string) *tunnel {
	t.Helper()
	c, err := net.DialTimeout("tcp", proxy, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(c, "CONNECT "+target+" HTTP/1.1\r\nHost: "+target+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	u := &tunnel{Conn: c, br: bufio.NewReader(c)}
	resp, err := http.ReadResponse(u.br, &http.Request{Method: http.MethodConnect})
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("CONNECT: %s", resp.Status)
	}
	return u
}

// works says whether a line comes back.
func (u *tunnel) works() bool {
	const line = "are you there\n"
	if _, err := io.WriteString(u, line); err != nil {
		return false
	}
	got, err := u.br.ReadString('\n')
	return err == nil && strings.EqualFold(got, line)
}

// refuses says whether nobody listens there any more.
func refuses(hostPort string) bool {
	c, err := net.DialTimeout("tcp", hostPort, time.Second)
	if err == nil {
		_ = c.Close()
	}
	return err != nil
}
