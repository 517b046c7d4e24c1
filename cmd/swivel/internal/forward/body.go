package forward

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"swivel/pool/upstream/http1"
)

// maxHeld is how large a body may be to be held, so that it can be sent again.
const maxHeld = 64 << 10

// takeBody reads a small body so that it can be sent to several proxies; a
// large or chunked one is streamed, and a client that waits for "100 Continue"
// has to be waited for. False: there is no request to serve.
func (x *exchange) takeBody() bool {
	x.body.Reset(x.Reader, x.Framing)
	if x.Framing.Kind == http1.Chunked {
		x.body.Without(keptFrom(x.Head.Fields))
	}
	small := x.Framing.Kind == http1.NoBody || x.Framing.Kind == http1.Length && x.Framing.Length <= maxHeld
	if !small || x.Framing.Length > 0 && x.Head.Minor > 0 && x.Head.Fields.Count("Expect") > 0 {
		return true
	}
	x.held = []byte{} // not nil: held, if empty
	if x.Framing.Length == 0 {
		return true
	}
	x.held = make([]byte, x.Framing.Length)
	_ = x.Client.SetReadDeadline(time.Now().Add(x.handler.settings.Response))
	n, err := io.ReadFull(&x.body, x.held)
	_ = x.Client.SetReadDeadline(time.Time{})
	x.result.Up = int64(n)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		x.refusal = refusalOf(err)
	}
	return err == nil
}

// clientBody is the client as the source of a streamed body. It implements
// upstream.BodySource.
type clientBody struct {
	x *exchange

	mu      sync.Mutex
	stopped bool
}

// Await implements upstream.BodySource.
func (c *clientBody) Await() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped {
		_ = c.x.Client.SetReadDeadline(time.Now().Add(c.x.handler.settings.Response))
	}
}

// Sent implements upstream.BodySource. While the body came, its end would have
// been noticed; from now on somebody has to watch.
func (c *clientBody) Sent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped {
		_ = c.x.Client.SetReadDeadline(time.Time{})
		c.x.watch()
	}
}

// Interrupt implements upstream.BodySource.
func (c *clientBody) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	_ = c.x.Client.SetReadDeadline(time.Unix(1, 0))
}
