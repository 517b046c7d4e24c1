package upstream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"swivel/pool"
	"swivel/pool/upstream/http1"
)

// maxResponseHead bounds a response head.
const maxResponseHead = 256 << 10

// session is one connection of a Transport, used by one request at a time.
type session struct {
	transport *Transport
	key       string
	conn      net.Conn
	br        *bufio.Reader
	since     time.Time // idle since
	reused    bool
	heard     bool // a byte of the response has come
	pump      *pump
}

func newSession(t *Transport, key string, c *Conn) *session {
	var src io.Reader = c.Conn
	if len(c.Early) > 0 {
		src = io.MultiReader(bytes.NewReader(c.Early), c.Conn)
	}
	return &session{transport: t, key: key, conn: c.Conn, br: bufio.NewReaderSize(src, 4<<10)}
}

func (s *session) close() {
	_ = s.conn.Close()
	if s.pump != nil {
		s.pump.finish()
	}
}

// quiet says whether an idle connection is still open and the server has said
// nothing on it: bytes nobody asked for would be taken for the next answer.
func (s *session) quiet() bool {
	if s.br.Buffered() > 0 {
		return false
	}
	tcp, isTCP := s.conn.(*net.TCPConn)
	if !isTCP {
		tls, ok := s.conn.(interface{ NetConn() net.Conn })
		if !ok {
			return false
		}
		if tcp, ok = tls.NetConn().(*net.TCPConn); !ok {
			return false
		}
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return false
	}
	open := false
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		n, _, e := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		// TLS 1.3 servers send tickets unasked.
		open = e == unix.EAGAIN || e == nil && n > 0 && !isTCP
	})
	return err == nil && open
}

var heads = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// roundTrip sends the request and reads up to the response's head.
func (s *session) roundTrip(life context.Context, r *Request) (*Response, error) {
	stop := context.AfterFunc(life, func() { _ = s.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := s.send(r); err != nil && !s.answeredEarly() {
		return nil, err
	}
	if r.Body != nil {
		s.pump = startPump(s, r)
	} else {
		_ = s.conn.SetReadDeadline(time.Now().Add(s.transport.response))
	}
	resp := &Response{session: s}
	if err := resp.readHead(r); err != nil {
		if s.pump != nil {
			if perr := s.pump.clientError(); perr != nil {
				return nil, perr
			}
		}
		return nil, err
	}
	_ = s.conn.SetReadDeadline(time.Time{})
	if life.Err() != nil { // the deadline may have been lifted that life's end had set
		return nil, life.Err()
	}
	return resp, nil
}

// answeredEarly: a server may refuse a request and close before it has read
// it all; what it said is worth reading although writing failed.
func (s *session) answeredEarly() bool {
	_ = s.conn.SetReadDeadline(time.Now().Add(time.Second))
	_, err := s.br.Peek(1)
	return err == nil
}

// send writes the head, and the body if it is held, in one go.
func (s *session) send(r *Request) error {
	room := heads.Get().(*[]byte)
	defer heads.Put(room)
	b := (*room)[:0]
	tunnelled := s.transport.tunnelled(r)
	if tunnelled {
		b = http1.AppendRequestLine(b, r.Method, r.Origin)
	} else {
		b = http1.AppendRequestLine(b, r.Method, r.Absolute)
	}
	b = r.Fields.Append(b)
	if r.Upgrade != "" {
		b = http1.AppendField(b, "Connection", "Upgrade")
		b = http1.AppendField(b, "Upgrade", r.Upgrade)
	}
	if p := s.transport.spec; p.HasAuth && !tunnelled {
		b = append(AppendBasic(append(b, "Proxy-Authorization: "...), p), "\r\n"...)
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

// Response is the answer to a plain request. Either Body is read to its end or
// not; in both cases Close must be called.
type Response struct {
	http1.Response
	Framing http1.Framing
	Body    http1.Body
	session *session
}

// readHead reads heads until a final one.
func (resp *Response) readHead(r *Request) error {
	s := resp.session
	for {
		if !s.heard {
			if _, err := s.br.Peek(1); err != nil {
				return err
			}
			s.heard = true
		}
		head, err := http1.ReadHead(s.br, maxResponseHead)
		if err != nil {
			return err
		}
		if err := resp.Parse(head); err != nil {
			return err
		}
		switch {
		case resp.Status == 101 && r.Upgrade == "":
			return http1.ErrNotHTTP
		case resp.Status >= 200 || resp.Status == 101:
			resp.Framing, err = resp.Response.Framing(r.Method)
			resp.Body.Reset(s.br, resp.Framing)
			return err
		case r.Interim != nil:
			r.Interim(&resp.Response)
		}
	}
}

// Upgraded gives the connection away after a 101: it and the bytes that came
// behind the head. The Response must not be used any more.
func (resp *Response) Upgraded() (net.Conn, []byte) {
	s := resp.session
	early := make([]byte, s.br.Buffered())
	_, _ = io.ReadFull(s.br, early)
	return s.conn, early
}

// Buffered says how many bytes of the body can be read without waiting.
func (resp *Response) Buffered() int { return resp.Body.Buffered() }

// BodyError says what an error of Body means for the proxy.
func BodyError(err error) pool.Signal {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return pool.ResponseTimeout
	}
	return pool.ResponseCut
}

// RequestSent says whether the request's body has been sent whole. A server
// answers right behind the last byte, when the pump may not yet have noted that
// it was the last: it gets a moment.
func (resp *Response) RequestSent() bool {
	p := resp.session.pump
	if p == nil {
		return true
	}
	select {
	case <-p.done:
	case <-time.After(20 * time.Millisecond):
		return false
	}
	return p.body.Ended()
}

// Abort ends a response whose client has left: reads of Body fail at once.
func (resp *Response) Abort() { _ = resp.session.conn.Close() }

// Close gives the connection back for the next request when both bodies have
// ended and nothing was odd, and closes it otherwise. It returns false when
// the client's body was not read to its end.
func (resp *Response) Close() (requestDone bool) {
	s := resp.session
	requestDone = s.pump == nil || s.pump.finish()
	if requestDone && resp.Body.Ended() && !resp.Framing.Odd && resp.KeepAlive() && resp.Status != 101 {
		s.pump = nil
		s.transport.put(s)
		return true
	}
	s.close()
	return requestDone
}
