package front

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"swivel/cmd/swivel/internal/reply"
	"swivel/cmd/swivel/internal/socks"
)

// handshake begins to speak TLS; false if the client would not, or not in time.
// Until it has there is nothing that a Shutdown would have to wait for.
func (c *client) handshake(within time.Duration) bool {
	c.idle.Store(true)
	defer c.idle.Store(false)
	if c.front.isStopping() { // looked at only now, as in awaitRequest
		return false
	}
	raw := &opening{TCPConn: c.tcp}
	conn := tls.Server(raw, c.front.TLS)
	_ = c.tcp.SetDeadline(time.Now().Add(within))
	err := conn.Handshake() // a context here would cost a goroutine
	_ = c.tcp.SetDeadline(time.Time{})
	if err != nil {
		c.refuseHandshake(cmp.Or(raw.alert(), err))
		return false
	}
	c.conn = conn
	return true
}

// refuseHandshake tells a client that speaks without TLS what is wrong with its
// proxy URL, in words that it understands. Of the others the log tells, but not of
// those that only look whether somebody listens.
func (c *client) refuseHandshake(err error) {
	var other tls.RecordHeaderError
	switch {
	case errors.Is(err, errSOCKS):
		c.tellRefusal(newRequest("socks5"), refusedPlainText(), socks.AppendMethod(nil, socks.NoMethod))
	case errors.As(err, &other) && other.Conn != nil:
		c.refusePlainText(other.RecordHeader)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, net.ErrClosed):
	default:
		c.front.warnOfHandshake(c, err)
	}
}

// refusePlainText answers what began like this.
func (c *client) refusePlainText(first [5]byte) {
	refused := refusedPlainText()
	switch {
	case string(first[:]) == "CONNE":
		r := newRequest("connect")
		r.method = "CONNECT"
		c.refuse(r, refused)
	case first[0] >= 'A' && first[0] <= 'Z': // as all methods begin
		c.refuse(newRequest("plain"), refused)
	default:
		c.front.warnOfHandshake(c, errNoTLS)
	}
}

func refusedPlainText() *reply.Error {
	return reply.BadRequest(400, "this port speaks TLS: use an https:// proxy URL")
}

// opening is a connection on which a ClientHello is to come. TLS looks at what has
// come only when it has the five bytes of a record's header, and the greeting of
// SOCKS5 is shorter with most clients, which then wait for an answer.
type opening struct {
	*net.TCPConn
	begun bool
	last  [alertLength]byte // read
}

// alertLength is that of a record with an alert that is not encrypted.
const alertLength = 7

// Read implements net.Conn. Its error is errSOCKS if the first byte is one of
// SOCKS5.
func (o *opening) Read(b []byte) (int, error) {
	n, err := o.TCPConn.Read(b)
	if n > 0 && !o.begun {
		o.begun = true
		if b[0] == socks.Version {
			return n, errSOCKS
		}
	}
	if n >= alertLength {
		copy(o.last[:], b[n-alertLength:n])
	}
	return n, err
}

// alert is what the client said last, if that was why it will not go on, and nil if
// it was something else. A client of TLS 1.3 that does not like the certificate says
// so before it encrypts (as OpenSSL does), when the server takes for encrypted
// whatever comes: crypto/tls then knows of a bad record MAC only.
func (o *opening) alert() error {
	const record, fatal = 21, 2 // RFC 8446 appendix B.1 and B.2
	if o.last[0] != record || o.last[3] != 0 || o.last[4] != 2 || o.last[5] != fatal {
		return nil
	}
	return fmt.Errorf("remote error: %w", tls.AlertError(o.last[6]))
}

var errSOCKS = errors.New("it speaks SOCKS5 without TLS")

var errNoTLS = errors.New("it speaks neither TLS nor another protocol that is known here")

// warnOfHandshake has the log tell of clients that do not accept the certificate,
// and the like; of one now and then, for who scans ports brings many.
func (f *Front) warnOfHandshake(c *client, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.failed) >= warnEvery {
		f.failed = now
		f.Log.HandshakeFailed(c.tcp.RemoteAddr(), err)
	}
}
