package upstream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/http1"
	"swivel/pool/upstream/lifetime"
	"swivel/pool/upstream/tcp"
)

// session is one connection of a Transport, used by one request at a time.
type session struct {
	transport *Transport
	proxy     *pool.Spec // with the credentials that the connection was made with
	key       key
	conn      net.Conn
	br        *bufio.Reader
	since     time.Time // idle since
	client    any       // whose it is, if it is pinned
	pinned    bool      // it carries requests of that client only
	reused    bool
	heard     bool  // a byte of the response has come
	sent      bool  // the request was sent, but for what the pump sends
	pump      *pump // nil if there is no body to stream
	echo      outbound
}

func newSession(t *Transport, p *pool.Spec, r *Request, c *Conn) *session {
	var src io.Reader = c.Conn
	if len(c.Early) > 0 {
		src = io.MultiReader(bytes.NewReader(c.Early), c.Conn)
	}
	return &session{transport: t, proxy: p, key: keyOf(p, r), conn: c.Conn, br: bufio.NewReaderSize(src, 4<<10)}
}

// close stops the pump and closes the connection.
func (s *session) close() {
	if s.pump != nil {
		s.pump.finish()
	}
	_ = s.conn.Close()
}

// cut ends the connection under whoever uses it. Unlike a deadline it cannot be
// lifted again by somebody who does not know yet that all is over, and unlike
// closing TLS it never waits for the peer.
func (s *session) cut() { _ = tcp.Under(s.conn).Close() }

// quiet says whether an idle connection is still open and the server has said
// nothing on it: bytes nobody asked for would be taken for the next answer.
func (s *session) quiet() bool {
	if s.br.Buffered() > 0 {
		return false
	}
	socket := tcp.Under(s.conn)
	bytes, ended := tcp.Look(socket)
	switch {
	case ended:
		return false
	case !bytes:
		return true
	case socket == s.conn:
		return false
	}
	// Under TLS it may be but a session ticket, which servers send unasked.
	_ = s.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := s.br.Peek(1)
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// roundTrip sends the request and reads up to the response's head. The end of
// life ends the connection, until the response is closed.
func (s *session) roundTrip(life context.Context, r *Request) (*Response, error) {
	if pins(r.Fields) {
		s.client, s.pinned = r.Client, true
	}
	resp := &Response{session: s, life: lifetime.AfterFunc(life, s.cut)}
	err := s.send(r)
	if s.sent = err == nil; !s.sent && !s.answeredEarly() {
		resp.life.Stop()
		return nil, err
	}
	if r.Body != nil {
		s.pump = startPump(s, r)
	} else {
		_ = s.conn.SetReadDeadline(time.Now().Add(s.transport.response))
	}
	if err := resp.readHead(r); err != nil {
		resp.life.Stop()
		if failed := s.clientError(); failed != nil {
			return nil, failed
		}
		return nil, err
	}
	s.answered()
	return resp, nil
}

// answeredEarly: a server may refuse a request and close before it has read
// it all; what it said is worth reading although writing failed.
func (s *session) answeredEarly() bool {
	_ = s.conn.SetReadDeadline(time.Now().Add(time.Second))
	_, err := s.br.Peek(1)
	return err == nil
}

// answered takes the limit off: the head has come, the body may take its time.
func (s *session) answered() {
	if s.pump != nil {
		s.pump.answered()
		return
	}
	_ = s.conn.SetReadDeadline(time.Time{})
}

// clientError is what went wrong with the client's body, as an *Error; nil
// when the client is not to blame.
func (s *session) clientError() error {
	if s.pump == nil {
		return nil
	}
	return s.pump.clientError()
}

// appendForProxy appends the head for an HTTP proxy, but for its last line.
func (s *session) appendForProxy(b []byte, r *Request) []byte {
	b = r.Fields.Append(http1.AppendRequestLine(b, r.Method, r.Absolute))
	again := false
	if isNear(s.conn) { // it is known again by what is the client's, and not by credentials that may change
		s.echo, again = s.transport.echoes.sent(b)
		again = again || r.Hops > 0
	}
	if s.proxy.HasAuth {
		b = append(AppendBasic(append(b, "Proxy-Authorization: "...), s.proxy), "\r\n"...)
	}
	if again {
		b = appendHops(http1.AppendField(b, "Connection", HopsField), r.Hops)
	}
	return b
}

var heads = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// send writes the head, and the body if it is held, in one go.
func (s *session) send(r *Request) error {
	room := heads.Get().(*[]byte)
	defer heads.Put(room)
	b := (*room)[:0]
	if tunnelled(s.proxy, r) {
		b = r.Fields.Append(http1.AppendRequestLine(b, r.Method, r.Origin))
	} else {
		b = s.appendForProxy(b, r)
	}
	b = append(b, "\r\n"...)
	b = append(b, r.Held...)
	_ = s.conn.SetWriteDeadline(time.Now().Add(s.transport.response))
	_, err := s.conn.Write(b)
	if cap(b) <= 64<<10 {
		*room = b[:0]
	}
	return err
}
