package forward_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// client is a raw HTTP client.
type client struct {
	t testing.TB
	wire
	tcp *net.TCPConn
	br  *bufio.Reader
}

// wire is TCP, or TLS over it.
type wire interface {
	net.Conn
	CloseWrite() error
}

// dial connects to the rig until the test ends.
func (r *rig) dial() *client {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(patience))
	r.t.Cleanup(func() { _ = c.Close() })
	tcp := c.(*net.TCPConn)
	if clientTLS == nil {
		return &client{r.t, tcp, tcp, bufio.NewReader(c)}
	}
	secure := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
	if err := secure.Handshake(); err != nil {
		r.t.Fatal(err)
	}
	return &client{r.t, secure, tcp, bufio.NewReader(secure)}
}

func (c *client) write(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		c.t.Fatal("client:", err)
	}
}

// head reads one response head.
func (c *client) head() string {
	c.t.Helper()
	head, err := c.tryHead()
	if err != nil {
		c.t.Fatalf("client: %v behind %q", err, head)
	}
	return head
}

func (c *client) tryHead() (string, error) {
	var b strings.Builder
	for {
		line, err := c.br.ReadString('\n')
		b.WriteString(line)
		if err != nil || line == "\r\n" {
			return b.String(), err
		}
	}
}

// response reads one response whose head states its length.
func (c *client) response() (head, body string) {
	c.t.Helper()
	head, body, err := c.tryResponse()
	if err != nil {
		c.t.Fatalf("client: %v behind %q %q", err, head, body)
	}
	return head, body
}

// tryResponse is response for goroutines other than the test's.
func (c *client) tryResponse() (head, body string, err error) {
	head, err = c.tryHead()
	if err != nil {
		return head, "", err
	}
	body, ok := readBody(c.br, head)
	if !ok {
		err = io.ErrUnexpectedEOF
	}
	return head, body, err
}

// take reads exactly n bytes.
func (c *client) take(n int) string {
	c.t.Helper()
	b := make([]byte, n)
	if n, err := io.ReadFull(c.br, b); err != nil {
		c.t.Fatalf("client: %v behind %q", err, b[:n])
	}
	return string(b)
}

// rest reads to the end of the connection.
func (c *client) rest() (string, error) {
	c.t.Helper()
	b, err := io.ReadAll(c.br)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		c.t.Fatalf("client: the connection stays open behind %q", b)
	}
	return string(b), err
}

// closes checks that nothing but an orderly end follows.
func (c *client) closes() {
	c.t.Helper()
	if rest, err := c.rest(); err != nil || rest != "" {
		c.t.Errorf("client: want an orderly end, got %q, %v", rest, err)
	}
}

// serves checks that the connection carries another request.
func (c *client) serves() {
	c.t.Helper()
	c.write("GET http://site.test/another HTTP/1.1\r\nHost: site.test\r\n\r\n")
	if head, _ := c.response(); !strings.HasPrefix(head, "HTTP/1.1 ") {
		c.t.Errorf("client: the next response is %q", head)
	}
}

// status is the code of a head.
func status(head string) string {
	_, rest, _ := strings.Cut(head, " ")
	code, _, _ := strings.Cut(rest, " ")
	return strings.TrimSpace(code)
}

// field is the value of a field of a head, "" if it is not there.
func field(head, name string) string {
	for line := range strings.SplitSeq(head, "\r\n") {
		if n, value, ok := strings.Cut(line, ": "); ok && strings.EqualFold(n, name) {
			return value
		}
	}
	return ""
}
