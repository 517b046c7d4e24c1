package front

import (
	"crypto/tls"
	"errors"
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
	conn := tls.Server(c.tcp, c.front.TLS)
	_ = c.tcp.SetDeadline(time.Now().Add(within))
	err := conn.Handshake() // a context here would cost a goroutine
	_ = c.tcp.SetDeadline(time.Time{})
	if err != nil {
		c.refuseHandshake(err)
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
	case errors.As(err, &other) && other.Conn != nil:
		c.refusePlainText(other.RecordHeader)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, net.ErrClosed):
	default:
		c.front.warnOfHandshake(c, err)
	}
}

// refusePlainText answers what began like this.
func (c *client) refusePlainText(first [5]byte) {
	refused := reply.BadRequest(400, "this port speaks TLS: use an https:// proxy URL")
	switch {
	case first[0] == socks.Version:
		c.tellRefusal(newRequest("socks5"), refused, socks.AppendMethod(nil, socks.NoMethod))
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
