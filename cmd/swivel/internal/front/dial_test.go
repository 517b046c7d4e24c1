package front

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// testClient is a client of the front.
type testClient struct {
	wire
	tcp *net.TCPConn
	t   testing.TB
	br  *bufio.Reader
}

// wire is TCP, or TLS over it.
type wire interface {
	net.Conn
	CloseWrite() error
}

func (r *rig) dial() *testClient {
	r.t.Helper()
	conn, err := net.DialTimeout("tcp", r.addr, patience)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	r.t.Cleanup(func() { _ = conn.Close() }) // before the rig's own
	c := &testClient{wire: conn.(*net.TCPConn), tcp: conn.(*net.TCPConn), t: r.t}
	if r.tls != nil {
		secure := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
		_ = secure.Handshake() // what is wrong shows when it is used
		c.wire = secure
	}
	c.br = bufio.NewReader(c.wire)
	return c
}

func (c *testClient) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

func connectHead(target string) string {
	return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n"
}

// askedHead is what a proxy on the loopback is asked for it.
func askedHead(target string) string {
	return strings.TrimSuffix(connectHead(target), "\r\n") + "X-Swivel-Hops: 1\r\n\r\n"
}

// reply reads the answer to a CONNECT, with its body if it is a refusal.
func (c *testClient) reply() (*http.Response, string) {
	c.t.Helper()
	resp, err := http.ReadResponse(c.br, &http.Request{Method: "CONNECT"})
	if err != nil {
		c.t.Fatalf("no reply to CONNECT: %v", err)
	}
	if resp.StatusCode == 200 {
		return resp, ""
	}
	body := make([]byte, max(resp.ContentLength, 0))
	if _, err := io.ReadFull(c.br, body); err != nil {
		c.t.Fatalf("the body of the refusal is cut short: %v", err)
	}
	return resp, string(body)
}

// connect opens a tunnel.
func (r *rig) connect(target string) *testClient {
	r.t.Helper()
	c := r.dial()
	c.send(connectHead(target))
	c.wants(200)
	return c
}

func (c *testClient) wants(status int) *http.Response {
	c.t.Helper()
	resp, body := c.reply()
	if resp.StatusCode != status {
		c.t.Fatalf("status %s, want %d: %s", resp.Status, status, body)
	}
	return resp
}

// expect reads exactly want.
func (c *testClient) expect(want string) {
	c.t.Helper()
	got := make([]byte, len(want))
	n, err := io.ReadFull(c.br, got)
	if string(got[:n]) != want {
		c.t.Fatalf("received %s, want %s (%v)", brief(got[:n]), brief([]byte(want)), err)
	}
}

// expectEnd wants the connection to be closed without a further byte.
func (c *testClient) expectEnd() {
	c.t.Helper()
	b, err := io.ReadAll(c.br)
	var timeout net.Error
	if len(b) > 0 || errors.As(err, &timeout) && timeout.Timeout() {
		c.t.Fatalf("the connection did not end: %s, %v", brief(b), err)
	}
}

func (c *testClient) reset() {
	_ = c.tcp.SetLinger(0)
	_ = c.tcp.Close()
}

func brief(b []byte) string {
	if len(b) > 60 {
		return fmt.Sprintf("%d bytes %q...", len(b), b[:60])
	}
	return fmt.Sprintf("%q", b)
}
