package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/http1"
)

const (
	// maxReplyHead bounds the head of a reply to CONNECT. Two fields and a
	// cookie or two are usual; what is longer is not meant for us.
	maxReplyHead = 16 << 10
	// maxInterim bounds the 1xx heads in front of the reply (RFC 9110
	// section 15.2 allows any number).
	maxInterim = 8
)

// exchange holds what one CONNECT needs for as long as it lasts. Pooled,
// because CONNECT is the hot path.
type exchange struct {
	out  []byte
	in   *bufio.Reader
	resp http1.Response
}

var exchanges = sync.Pool{New: func() any { return &exchange{in: bufio.NewReader(nil)} }}

// httpConnect asks an HTTP proxy for the tunnel. The body of a refusal is not
// read: it helps nobody, and the connection is not used again.
func httpConnect(ph *phase, conn net.Conn, p *pool.Spec, t target) ([]byte, error) {
	x := exchanges.Get().(*exchange)
	defer x.release()
	x.in.Reset(conn)
	if !isNear(conn) {
		t.hops = unsaid
	}
	if _, err := conn.Write(x.request(p, t)); err != nil {
		return nil, ph.fail(err, pool.HandshakeTimeout, pool.HandshakeClosed)
	}
	if err := x.readReply(); err != nil {
		return nil, replyError(ph, err)
	}
	if signal, after := ReplySignal(&x.resp, time.Now()); signal != pool.NoSignal {
		return nil, &Error{
			Signal:     signal,
			Status:     x.resp.Status,
			RetryAfter: after,
			Err:        fmt.Errorf("the proxy answered %d", x.resp.Status),
		}
	}
	return x.early(), nil
}

// unsaid is in place of a number of hops that is nobody's business.
const unsaid = -1

// request says no more than CONNECT needs: every further field would be ours
// and not the client's. It is one write, since some proxies take a head split
// over packets for a broken one.
func (x *exchange) request(p *pool.Spec, t target) []byte {
	b := append(x.out[:0], "CONNECT "...)
	b = append(b, t.text...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, t.text...)
	b = append(b, "\r\n"...)
	if p.HasAuth {
		b = append(b, "Proxy-Authorization: "...)
		b = AppendBasic(b, p)
		b = append(b, "\r\n"...)
	}
	if t.hops != unsaid {
		b = appendHops(b, t.hops)
	}
	x.out = append(b, "\r\n"...)
	return x.out
}

// readReply reads the final reply. What is behind its head stays in x.in.
func (x *exchange) readReply() error {
	for range maxInterim + 1 {
		if err := expectHTTP(x.in); err != nil {
			return err
		}
		head, err := http1.ReadHead(x.in, maxReplyHead)
		if err != nil {
			return err
		}
		if err := x.resp.Parse(head); err != nil {
			return err
		}
		// 101 is final too, though nobody asked to switch protocols.
		if x.resp.Status >= 200 || x.resp.Status == 101 {
			return nil
		}
	}
	return errInterim
}

var errInterim = errors.New("interim replies without end")

// expectHTTP looks at the first bytes as they come, because a server of
// another protocol need not ever send what ends a head: its greeting would
// pass for silence.
func expectHTTP(in *bufio.Reader) error {
	const magic = "HTTP/"
	for i := range len(magic) {
		b, err := in.Peek(i + 1)
		if err != nil {
			return err
		}
		if b[i] != magic[i] {
			return http1.ErrNotHTTP
		}
	}
	return nil
}

func replyError(ph *phase, err error) error {
	for _, garbage := range []error{http1.ErrNotHTTP, http1.ErrHeadTooLarge, http1.ErrLineTooLong, errInterim} {
		if errors.Is(err, garbage) {
			return &Error{Signal: pool.HandshakeGarbage, Err: err}
		}
	}
	return ph.fail(err, pool.HandshakeTimeout, pool.HandshakeClosed)
}

// early copies what the proxy sent right behind its reply: the first bytes of
// the target, such as an SSH banner.
func (x *exchange) early() []byte {
	n := x.in.Buffered()
	if n == 0 {
		return nil
	}
	b, _ := x.in.Peek(n)
	return bytes.Clone(b)
}

// release wipes the credentials and lets go of the connection and the head.
func (x *exchange) release() {
	clear(x.out[:cap(x.out)])
	clear(x.resp.Fields[:cap(x.resp.Fields)])
	x.in.Reset(nil)
	exchanges.Put(x)
}
