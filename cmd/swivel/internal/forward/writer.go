package forward

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"swivel/cmd/swivel/internal/reply"
	"swivel/cmd/swivel/internal/tunnel"
	"swivel/pool"
	"swivel/pool/upstream"
	"swivel/pool/upstream/http1"
	"swivel/pool/upstream/tcp"
)

// copyRoom is the size of the buffer in which a response is relayed: head and
// first bytes of the body leave in one write.
const copyRoom = 32 << 10

var copyBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, copyRoom)
	return &b
}}

// Header implements http.ResponseWriter.
func (x *exchange) Header() http.Header { return x.header }

// WriteHeader implements http.ResponseWriter. The head waits for the first
// bytes of the body, if there are any already.
func (x *exchange) WriteHeader(int) {
	if x.wroteHeader || x.resp == nil {
		return
	}
	x.wroteHeader, x.headDue = true, true
	x.closing = x.closes()
}

// appendHead appends the response's head, if it has not been sent.
func (x *exchange) appendHead(b []byte) []byte {
	if !x.headDue {
		return b
	}
	b = http1.AppendStatusLine(b, x.resp.Status, x.resp.Reason)
	b = merge(x.fields, x.header).Append(b)
	if why := x.lease.Moved(); why != "" {
		b = http1.AppendField(b, reply.SessionMoved, why)
	}
	if x.closing && x.resp.Status != 101 {
		b = http1.AppendField(b, "Connection", "close")
	}
	return append(b, "\r\n"...)
}

// sentFraming is how the client is told the end of the body: an HTTP/1.0
// client knows no chunks and gets it by the end of the connection.
func (x *exchange) sentFraming() http1.Framing {
	if x.resp.Framing.Kind == http1.Chunked && x.Head.Minor == 0 {
		return http1.Framing{Kind: http1.UntilClose}
	}
	return x.resp.Framing
}

// closes says whether the client's connection ends behind this response.
func (x *exchange) closes() bool {
	return !x.Head.KeepAlive() || x.sentFraming().Kind == http1.UntilClose ||
		!x.resp.RequestRead()
}

// Write implements http.ResponseWriter. Bodies go through content.WriteTo;
// there is no way for a handler to replace one.
func (x *exchange) Write([]byte) (int, error) { return 0, errReplaced }

var errReplaced = errors.New("the body of a response cannot be replaced")

// content is the response's body. io.Copy finds WriteTo, so that goproxy's
// copy loop becomes ours: every piece is passed on as it comes.
type content struct{ x *exchange }

// Read implements io.Reader, for handlers that look into the body.
func (c content) Read(p []byte) (int, error) {
	if c.x.resp == nil {
		return 0, io.EOF
	}
	return c.x.resp.Body.Read(p)
}

// Close implements io.Closer. The exchange closes the response itself.
func (c content) Close() error { return nil }

// WriteTo implements io.WriterTo.
func (c content) WriteTo(io.Writer) (int64, error) {
	x := c.x
	switch {
	case x.resp == nil:
		return 0, nil
	case x.resp.Status == 101:
		return x.upgrade()
	}
	return x.copyBody()
}

// copyBody relays the body piece by piece.
func (x *exchange) copyBody() (total int64, err error) {
	room := copyBuffers.Get().(*[]byte)
	defer copyBuffers.Put(room)
	chunked := x.sentFraming().Kind == http1.Chunked
	for {
		out := x.appendHead((*room)[:0])
		if x.headDue && x.resp.Buffered() == 0 && !x.resp.Body.Ended() {
			if err := x.send(out); err != nil { // nothing to wait for: the head is news
				return total, err
			}
			out = out[:0]
		}
		n, out, rerr := x.appendPiece(out, chunked)
		total += int64(n)
		x.result.Down += int64(n)
		if len(out) > 0 {
			if err := x.send(out); err != nil {
				return total, err
			}
		}
		if rerr != nil {
			return total, x.ended(rerr)
		}
	}
}

// appendPiece reads once and appends what came, as a chunk if need be; at the
// end of a chunked body it appends the last chunk.
func (x *exchange) appendPiece(out []byte, chunked bool) (int, []byte, error) {
	start := len(out)
	if cap(out)-start < 4<<10 { // a large head
		grown := make([]byte, start, start+copyRoom)
		copy(grown, out)
		out = grown
	}
	lead := 0
	if chunked {
		lead = http1.ChunkRoom
	}
	piece := out[start+lead : cap(out)-2]
	n, err := x.resp.Body.Read(piece)
	switch {
	case n > 0 && chunked:
		// The chunk's size has fewer digits than there is room for: move it up.
		sealed := http1.SealChunk(out[start : start+lead+n])
		out = append(out, sealed...)
	case n > 0:
		out = out[:start+n]
	}
	if err == io.EOF && chunked {
		out = http1.AppendLastChunk(out, x.resp.Body.Trailer())
	}
	return n, out, err
}

// send writes to the client. The first write takes the head along.
func (x *exchange) send(b []byte) error {
	x.headDue = false
	_ = x.Client.SetWriteDeadline(time.Now().Add(x.handler.settings.Response))
	_, err := x.Client.Write(b)
	if err != nil {
		x.broken = true
		x.settle(pool.Response) // the client left; the proxy did its work
		x.resp.Abort()
	}
	return err
}

// ended settles the verdict when the body is over.
func (x *exchange) ended(err error) error {
	switch {
	case err == io.EOF:
		x.settle(pool.Response)
		return nil
	case x.life.Err() != nil, x.resp.ClientFailed():
		x.settle(pool.Response)
	default:
		x.settle(upstream.BodyError(err))
	}
	x.broken = true
	return err
}

// upgrade turns the two connections into a tunnel.
func (x *exchange) upgrade() (int64, error) {
	x.settle(pool.Response)
	head := x.appendHead(nil)
	conn, early := x.resp.Upgraded()
	x.resp = nil
	x.stopWatch()
	_ = x.Client.SetDeadline(time.Now().Add(x.handler.settings.Response)) // the registry does not know it yet
	sent, _ := io.CopyN(conn, x.Reader, int64(x.Reader.Buffered()))
	if _, err := x.Client.Write(append(head, early...)); err != nil {
		_ = conn.Close()
		return 0, err
	}
	_ = x.Client.SetDeadline(time.Time{})
	traffic := x.handler.registry.Relay(x.Client, conn, tunnel.Unobserved{})
	x.result.Status, x.result.Up, x.result.Down = 101, sent+traffic.Up, traffic.Down+int64(len(early))
	return x.result.Down, nil
}

func (x *exchange) stopWatch() {
	if x.stop != nil {
		x.stop()
		x.stop = nil
	}
}

// finish writes what goproxy left unwritten and says whether the client's
// connection can go on.
func (x *exchange) finish() {
	switch {
	case x.result.Status == 101:
		return
	case x.resp == nil:
		x.refuse()
		return
	}
	if x.headDue && !x.broken { // a response whose body nobody asked for
		_ = x.send(x.appendHead(nil))
	}
	x.settle(pool.Response)
	x.result.Status = x.resp.Status
	requestRead, streamed := x.resp.Close()
	x.result.Up += streamed
	x.release()
	if x.broken {
		// A body that just ended would look complete to a client that takes the
		// end of the connection for its end.
		tcp.Reset(x.Client)
	}
	x.result.Reusable = requestRead && !x.broken && !x.closing
}

// release gives the client's connection back as it was.
func (x *exchange) release() {
	x.stopWatch()
	_ = x.Client.SetDeadline(time.Time{})
}

// refuse answers when no proxy served.
func (x *exchange) refuse() {
	x.release()
	if x.refusal == nil {
		x.result.Status, x.result.Code = tunnel.ClientLeft, "client_gone"
		return
	}
	x.result.Status, x.result.Code, x.result.Reason = x.refusal.Status, x.refusal.Code, x.refusal.Text
	_ = x.Client.SetWriteDeadline(time.Now().Add(5 * time.Second))
	_, _ = x.Client.Write(x.refusal.Append(nil, x.Exchange.ID, x.Head.Method))
}
