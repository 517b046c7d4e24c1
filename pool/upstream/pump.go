package upstream

import (
	"errors"
	"io"
	"sync"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/http1"
)

// BodySource is where a streamed request body comes from: a client connection.
// All but Interrupt are called by the pump's goroutine.
type BodySource interface {
	// Await bounds the read that comes next.
	Await()
	// Sent says that the body was sent whole: nothing more will be read.
	Sent()
	// Interrupt makes a read under way return, and those that follow.
	Interrupt()
}

// pump sends a request body while the response may already be coming.
type pump struct {
	session *session
	body    *http1.Body
	source  BodySource
	done    chan struct{} // closed at the end; then the next two are valid
	whole   bool          // all was sent
	sent    int64         // bytes of content

	mu     sync.Mutex
	free   bool  // the response's head has come: its reader may take its time
	failed error // of reading the client's body
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
	if err == nil {
		p.source.Sent()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var broken writeError
	switch {
	case err == nil:
		p.whole = true
		p.limit(p.session.transport.response)
	case errors.As(err, &broken):
		// The server may have answered without reading on: the reader will see.
		p.limit(time.Second)
	default:
		p.failed = err
		p.session.cut()
	}
}

// limit bounds the wait for the response's head. p.mu must be held.
func (p *pump) limit(d time.Duration) {
	if !p.free {
		_ = p.session.conn.SetReadDeadline(time.Now().Add(d))
	}
}

// answered says that the response's head has come, so that nothing bounds the
// reading any more.
func (p *pump) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = true
	_ = p.session.conn.SetReadDeadline(time.Time{})
}

func (p *pump) copy(f http1.Framing) error {
	room := pumpBuffers.Get().(*[]byte)
	defer pumpBuffers.Put(room)
	buf := *room
	for {
		p.source.Await()
		n, err := p.body.Read(buf[http1.ChunkRoom : http1.ChunkRoom+pumpBuffer])
		if n > 0 {
			p.sent += int64(n)
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

// writeError marks an error of the proxy's side.
type writeError struct{ error }

func (e writeError) Unwrap() error { return e.error }

func (p *pump) send(b []byte) error {
	_ = p.session.conn.SetWriteDeadline(time.Now().Add(p.session.transport.response))
	if _, err := p.session.conn.Write(b); err != nil {
		return writeError{err}
	}
	return nil
}

// clientError is what went wrong with the client's body, as an *Error; nil
// when the client is not to blame.
func (p *pump) clientError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		return nil
	}
	return &Error{Signal: pool.ClientGone, Err: p.failed, Sent: true}
}

// finish stops the pump if it still runs, which ends the connection, and waits
// for it.
func (p *pump) finish() {
	select {
	case <-p.done:
		return
	default:
	}
	p.source.Interrupt()
	p.session.cut()
	<-p.done
}
