package upstream

import (
	"errors"
	"io"
	"net"
	"os"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/http1"
	"swivel/pool/upstream/lifetime"
)

// maxResponseHead bounds a response head.
const maxResponseHead = 256 << 10

// Response is the answer to a plain request. Either Body is read to its end or
// not; in both cases Close must be called, unless Upgraded is.
type Response struct {
	http1.Response
	Framing http1.Framing
	Body    http1.Body
	session *session
	life    lifetime.Hook // on the exchange's life
}

// maxInterimBytes bounds the 1xx heads in front of a response, all together. A
// server may send one every now and then while it works, but not without end.
const maxInterimBytes = 256 << 10

// readHead reads heads until a final one.
func (resp *Response) readHead(r *Request) error {
	s := resp.session
	odd := false // one of the heads was
	for interim := 0; interim <= maxInterimBytes; {
		if _, err := s.br.Peek(1); err != nil {
			return err
		}
		s.heard = true
		if err := expectHTTP(s.br); err != nil {
			return err
		}
		head, err := http1.ReadHead(s.br, maxResponseHead)
		if err != nil {
			return err
		}
		if err := resp.Parse(head); err != nil {
			return err
		}
		if resp.Framing, err = resp.Response.Framing(r.Method); err != nil {
			return err
		}
		odd = odd || resp.Framing.Odd
		switch {
		case resp.Status == 101 && !r.Upgrade:
			return http1.ErrNotHTTP
		case resp.Status >= 200 || resp.Status == 101:
			resp.Framing.Odd = odd
			resp.Body.Reset(s.br, resp.Framing)
			if resp.Framing.Kind == http1.Chunked {
				resp.Body.Without(resp.Fields.Nominated())
			}
			return nil
		case r.Interim != nil:
			r.Interim(&resp.Response)
		}
		interim += len(head)
	}
	return errInterim
}

// Upgraded gives the connection away after a 101: it and the bytes that came
// behind the head. The Response must not be used any more.
func (resp *Response) Upgraded() (net.Conn, []byte) {
	s := resp.session
	resp.life.Stop()
	if s.pump != nil {
		s.pump.finish()
	}
	early := make([]byte, s.br.Buffered())
	_, _ = io.ReadFull(s.br, early)
	_ = s.conn.SetDeadline(time.Time{})
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

// ClientFailed says whether Body was cut because the client broke off the
// request that it answers.
func (resp *Response) ClientFailed() bool { return resp.session.clientError() != nil }

// RequestRead says whether the request's body has been read whole. A server
// answers right behind the last byte, when the pump may not yet have noted that
// it was the last: it gets a moment.
func (resp *Response) RequestRead() bool {
	p := resp.session.pump
	if p == nil {
		return true
	}
	select {
	case <-p.done:
	case <-time.After(100 * time.Millisecond):
		return false
	}
	return p.body.Ended()
}

// Drain reads what is left of the body, as far as it is not longer and comes in
// time. Its error says that the body was cut short; nil if it was not, as far as is
// known.
func (resp *Response) Drain(most int64, within time.Duration) error {
	conn := resp.session.conn
	_ = conn.SetReadDeadline(time.Now().Add(within))
	_, err := io.CopyN(io.Discard, &resp.Body, most)
	_ = conn.SetReadDeadline(time.Time{})
	if err == io.EOF || errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

// Abort ends a response whose client has left: reads of Body fail at once.
func (resp *Response) Abort() { resp.session.cut() }

// Close gives the connection back for the next request when both bodies have
// ended and nothing was odd, and closes it otherwise. read is false when the
// client's body was not read to its end; sent is how much of it was streamed.
func (resp *Response) Close() (read bool, sent int64) {
	s := resp.session
	alive, whole, read := resp.life.Stop(), s.sent, true
	if p := s.pump; p != nil {
		if resp.Body.Ended() {
			resp.RequestRead() // the end may not have been noted yet
		}
		p.finish()
		whole = whole && p.whole
		read, sent = p.body.Ended(), p.sent
	}
	if alive && whole && resp.reusable() {
		s.pump = nil
		s.transport.put(s)
	} else {
		s.close()
	}
	return read, sent
}

func (resp *Response) reusable() bool {
	return resp.Body.Ended() && !resp.Framing.Odd && !resp.Body.Odd() && resp.KeepAlive() &&
		resp.Status != 101 && resp.session.br.Buffered() == 0
}
