package front

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
)

// clientHello is what a real TLS client sends first. Its name makes it as long
// as that.
func clientHello(t testing.TB, name string) string {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		_ = tls.Client(far, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
		_ = far.Close()
	}()
	head := make([]byte, 5)
	if _, err := io.ReadFull(near, head); err != nil {
		t.Fatal(err)
	}
	record := append(head, make([]byte, binary.BigEndian.Uint16(head[3:]))...)
	if _, err := io.ReadFull(near, record[5:]); err != nil {
		t.Fatal(err)
	}
	return string(record)
}

// withExtension adds an extension to a ClientHello of one record.
func withExtension(hello string, kind uint16, content string) string {
	b := []byte(hello)
	at := 5 + 4 + 2 + 32
	at += 1 + int(b[at])
	at += 2 + int(binary.BigEndian.Uint16(b[at:]))
	at += 1 + int(b[at])
	var extension []byte
	extension = binary.BigEndian.AppendUint16(extension, kind)
	extension = binary.BigEndian.AppendUint16(extension, uint16(len(content)))
	extension = append(extension, content...)
	grow := func(at int) { // a length of two bytes
		binary.BigEndian.PutUint16(b[at:], binary.BigEndian.Uint16(b[at:])+uint16(len(extension)))
	}
	grow(3)
	grow(7)
	grow(at)
	return string(b) + string(extension)
}

const (
	extEarlyData = 42
	extPadding   = 21
)

// tlsTarget is a good proxy in front of a TLS server that answers each line in
// capitals.
func tlsTarget(t testing.TB) func(*peer) {
	config := &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}
	return func(c *peer) {
		if c.head() == "" {
			return
		}
		c.send(ok200)
		conn := tls.Server(&buffered{c.TCPConn, c.br}, config)
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err == nil {
			_, _ = io.WriteString(conn, strings.ToUpper(line))
			_ = conn.CloseWrite()
		}
	}
}

// buffered is a connection of which something has been read already.
type buffered struct {
	net.Conn
	r io.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.r.Read(p) }

// asksOverTLS makes one exchange over TLS through a tunnel.
func (c *testClient) asksOverTLS() error {
	conn := tls.Client(&buffered{c.wire, c.br}, &tls.Config{InsecureSkipVerify: true})
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		return err
	}
	got, err := io.ReadAll(conn)
	if err == nil && !bytes.Equal(got, []byte("HELLO\n")) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
