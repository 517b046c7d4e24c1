package upstream

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/http1"
)

// BodySource is where a streamed request body comes from: a client connection
// whose pending read can be broken off.
type BodySource interface {
	// Interrupt makes a read under way return, and those that follow.
	Interrupt()
}

// pump sends a request body while the response may already be coming.
type pump struct {
	session *session
	body    *http1.Body
	source  BodySource
	done    chan struct{}

	mu  sync.Mutex
	err error // of reading the client's body
}

const pumpBuffer = 16 << 10

var pumpBuffers = sync.Pool{New: func() any {
	b := make([]byte, http1.ChunkRoom+pumpBuffer+2)
	return &b
}}

func startPump(s *session, r *Request) *pump {
	p := &pump{session: s, body: r.Body, source: r.Source, done: make(chan struct{})}
	go p.run(r.Framing)
	return p
}

// run copies the body. When it has all been sent, the wait for the response
// begins; when the client fails, the response is not wanted any more.
func (p *pump) run(f http1.Framing) {
	defer close(p.done)
	err := p.copy(f)
	var write *net.OpError
	switch {
	case err == nil:
		_ = p.session.conn.SetReadDeadline(time.Now().Add(p.session.transport.response))
	case errors.As(err, &write) && write.Op == "write":
		// The server may have answered without reading on: the reader will see.
		_ = p.session.conn.SetReadDeadline(time.Now().Add(time.Second))
	default:
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		_ = p.session.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

func (p *pump) copy(f http1.Framing) error {
	room := pumpBuffers.Get().(*[]byte)
	defer pumpBuffers.Put(room)
	buf := *room
	for {
		n, err := p.body.Read(buf[http1.ChunkRoom : http1.ChunkRoom+pumpBuffer])
		if n > 0 {
			if werr := p.write(buf[:http1.ChunkRoom+n], f); werr != nil {
				return werr
			}
		}
		if err == io.EOF {
			return p.end(f)
		}
		if err != nil {
			return err
		}
	}
}

func (p *pump) write(b []byte, f http1.Framing) error {
	if f.Kind == http1.Chunked {
		b = http1.SealChunk(b)
	} else {
		b = b[http1.ChunkRoom:]
	}
	return p.send(b)
}

func (p *pump) end(f http1.Framing) error {
	if f.Kind != http1.Chunked {
		return nil
	}
	return p.send(http1.AppendLastChunk(nil, p.body.Trailer()))
}

func (p *pump) send(b []byte) error {
	_ = p.session.conn.SetWriteDeadline(time.Now().Add(p.session.transport.response))
	if _, err := p.session.conn.Write(b); err != nil {
		return &net.OpError{Op: "write", Err: err}
	}
	return nil
}

// clientError is what went wrong with the client's body, as an *Error; nil
// when the client is not to blame.
func (p *pump) clientError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		return nil
	}
	return &Error{Signal: pool.ClientGone, Err: p.err, Sent: true}
}

// finish stops the pump; true when the body had been sent whole.
func (p *pump) finish() bool {
	select {
	case <-p.done:
	default:
		p.source.Interrupt()
		_ = p.session.conn.SetWriteDeadline(time.Unix(1, 0))
		<-p.done
	}
	return p.body.Ended()
}
