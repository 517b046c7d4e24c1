package tunnel

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/certificate/certtest"
)

// pieces writes one byte at a time: a record comes when the one before it is
// being passed on, and not yet whole.
type pieces struct{ net.Conn }

func (p pieces) Write(b []byte) (int, error) {
	for i := range b {
		if n, err := p.Conn.Write(b[i : i+1]); err != nil {
			return i + n, err
		}
	}
	return len(b), nil
}

// TestDecryptedBytesArePassedOnAtOnceAndWhole: whoever looks for more than one byte
// must neither wait for it nor lose what TLS holds already.
func TestDecryptedBytesArePassedOnAtOnceAndWhole(t *testing.T) {
	pair, err := tls.X509KeyPair(certtest.Pair(t, "swivel.test", time.Time{}, time.Now().Add(time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	for name, wire := range map[string]func(net.Conn) net.Conn{
		"whole":     func(c net.Conn) net.Conn { return c },
		"in pieces": func(c net.Conn) net.Conn { return pieces{c} },
	} {
		t.Run(name, func(t *testing.T) {
			far, near := tcpPair(t)
			server := tls.Server(near, &tls.Config{Certificates: []tls.Certificate{pair}})
			client := tls.Client(wire(far), &tls.Config{InsecureSkipVerify: true})
			out, in := net.Pipe()
			defer in.Close()
			_ = in.SetDeadline(time.Now().Add(patience))
			type end struct {
				total int64
				err   error
			}
			over := make(chan end, 1)
			go func() {
				defer out.Close()
				total, err := copyAny(out, server, nil)
				over <- end{total, err}
			}()
			sent := int64(0)
			for _, size := range []int{1, 2, 1, 600, 16383, 16384, 16385, 1, 100_000, 3} {
				text := bytes.Repeat([]byte{byte(size)}, size)
				go func() { _, _ = client.Write(text) }()
				got := make([]byte, size)
				if _, err := io.ReadFull(in, got); err != nil || !bytes.Equal(got, text) {
					t.Fatalf("of %d bytes there came others: %v", size, err)
				}
				sent += int64(size)
			}
			_ = client.CloseWrite()
			if e := <-over; e.total != sent || e.err != io.EOF {
				t.Errorf("%d of %d bytes, %v", e.total, sent, e.err)
			}
		})
	}
}
