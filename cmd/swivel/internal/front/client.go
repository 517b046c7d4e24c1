package front

import (
	"bufio"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/forward"
	"swivel/cmd/swivel/internal/limit"
	"swivel/cmd/swivel/internal/reply"
	"swivel/cmd/swivel/internal/socks"
	"swivel/cmd/swivel/internal/tunnel"
	"swivel/pool/upstream/http1"
	"swivel/pool/upstream/lifetime"
)

// client is one client connection.
type client struct {
	front   *Front
	tcp     *net.TCPConn
	conn    net.Conn     // what is spoken on it: tcp, or TLS over it
	name    string       // its address, for the log
	addr    limit.Client // who it is as long as it has not authenticated
	counted limit.Client // as whose connection it is counted
	refused *reply.Error // swivel had no place for it when it came
	br      *bufio.Reader
	idle    atomic.Bool // waiting for the first byte of a request
	req     http1.Request
	away    bool        // the connection is a tunnel's
	cut     atomic.Bool // by Shutdown
	life    lifetime.Context
}

// readers hold a connection's input until its kind is known; a tunnel gives
// its reader back.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4<<10) }}

// serve answers requests until the connection ends.
func (c *client) serve() {
	defer c.end()
	defer c.survive()
	if c.front.TLS != nil && !c.handshake(c.front.Settings.HeaderTimeout) {
		return
	}
	c.read()
	// The first head is due from the start: an honest client connects when it
	// has something to ask.
	head, ok := c.readHead(c.front.Settings.HeaderTimeout, 0)
	for ok && c.next(head) {
		head, ok = c.readHead(c.front.Settings.KeepAlive, c.front.Settings.HeaderTimeout)
	}
	c.release()
}

// end closes the connection and forgets the client, unless a tunnel has both.
func (c *client) end() {
	if !c.away {
		c.lingerClose()
		c.front.forget(c)
	}
}

// survive ends this connection after a panic, and leaves the others alone.
func (c *client) survive() {
	if r := recover(); r != nil {
		c.front.Log.Panic(c.tcp.RemoteAddr(), r, debug.Stack())
		_ = c.tcp.Close()
	}
}

// read gives the connection a reader, until release.
func (c *client) read() {
	c.br = readers.Get().(*bufio.Reader)
	c.br.Reset(c.conn)
}

func (c *client) release() {
	if c.br != nil {
		c.br.Reset(nil)
		readers.Put(c.br)
		c.br = nil
	}
}

// next serves one request; false ends the connection.
func (c *client) next(head string) bool {
	err := c.req.Parse(head)
	r := newRequest(kindOf(c.req.Method))
	r.method = methodOf(&c.req)
	if err != nil {
		c.refuseParse(r, err)
		return false
	}
	who, refused := c.front.callerOf(c.req.Fields)
	r.caller = who.kept()
	if refused == nil {
		refused = c.countFor(r)
	}
	switch {
	case refused != nil:
		return c.turnAway(r, refused)
	case r.method == "CONNECT":
		c.connect(r)
		return false
	}
	return c.plain(r)
}

// readHead waits for a request and reads its head; false when there is none, or
// when the client speaks something else, which is served or refused then. wait is the time until the
// first byte, more what the rest may take from then on; with more 0, wait
// bounds both.
func (c *client) readHead(wait, more time.Duration) (string, bool) {
	c.req.Target = "" // that of the request before
	_ = c.conn.SetReadDeadline(time.Now().Add(wait))
	if !c.awaitRequest() {
		return "", false
	}
	if !c.speaksHTTP() {
		return "", false
	}
	if more > 0 {
		_ = c.conn.SetReadDeadline(time.Now().Add(more))
	}
	head, err := http1.ReadHead(c.br, c.front.Settings.HeaderBytes)
	if err != nil {
		c.refuseRead(err)
		return "", false
	}
	_ = c.conn.SetReadDeadline(time.Time{})
	return head, true
}

// awaitRequest waits for the first byte of a request; false when none comes.
func (c *client) awaitRequest() bool {
	c.idle.Store(true)
	defer c.idle.Store(false)
	// Looked at only now: a Shutdown that came before has not seen it idle.
	if c.br.Buffered() == 0 && c.front.isStopping() {
		return false
	}
	return http1.SkipBlankLines(c.br) == nil
}

// speaksHTTP looks at the first byte. Who speaks another protocol is served, or
// told what is wrong with its proxy URL.
func (c *client) speaksHTTP() bool {
	const tlsHandshake = 0x16
	switch first, _ := c.br.Peek(1); first[0] {
	case socks.Version:
		c.socks()
	case socks.Version4:
		c.refuse(newRequest("socks4"), reply.BadRequest(400, "SOCKS4 is not served here: use socks5h:// or an http:// proxy URL"))
	case tlsHandshake:
		c.refuse(newRequest("plain"), reply.BadRequest(400, "this port speaks no TLS: use an http:// proxy URL"))
	default:
		return true
	}
	return false
}

// connect serves a CONNECT; the connection is used up by it.
func (c *client) connect(r *request) {
	target, refused := connectTarget(c.req.Target)
	if refused == nil {
		refused = c.check(target)
	}
	if refused != nil {
		c.refuse(r, refused)
		return
	}
	r.target = target
	c.tunnel(r, tunnel.HTTP{})
}

// tunnel serves a request for a tunnel whose target may be asked for.
func (c *client) tunnel(r *request, answers tunnel.Answers) {
	var early []byte
	if n := c.br.Buffered(); n > 0 {
		early = make([]byte, n)
		_, _ = io.ReadFull(c.br, early)
	}
	c.release()
	x, refused := c.begin(r)
	if refused != nil {
		c.refuse(r, refused)
		return
	}
	c.req = http1.Request{} // nobody reads it any more, and tunnels last
	report := func(result tunnel.Result) { c.reportTunnel(r, x, result) }
	result, open := c.front.Tunnel.Serve(&c.life, c.conn, early, x, answers, func(result tunnel.Result) {
		report(result)
		c.front.forget(c)
	})
	if c.away = open; !open {
		if refusal := c.sayStopping(r, result.Status, answers.Refused); refusal != nil {
			result.Status, result.Code, result.Reason = refusal.Status, refusal.Code, refusal.Text
		}
		report(result)
	}
}

// sayStopping answers a request that has no answer, since the process ends and not
// because the client has left; nil if that is not so.
func (c *client) sayStopping(r *request, status int, refused func([]byte, string, *reply.Error) []byte) *reply.Error {
	if status != tunnel.ClientLeft || !c.cut.Load() {
		return nil
	}
	refusal := reply.Stopping()
	_ = c.conn.SetWriteDeadline(time.Now().Add(lastWords))
	_, _ = c.conn.Write(refused(nil, r.id, refusal))
	return refusal
}

func (c *client) reportTunnel(r *request, x *attempts.Exchange, result tunnel.Result) {
	line := c.line(r, result.Status, result.Code)
	line.Reason = result.Reason
	line.Proxy, line.Attempts = result.Proxy, x.Attempts()
	line.Opened = result.Opened
	line.Up, line.Down = result.Traffic.Up, result.Traffic.Down
	c.front.report(&line)
}

// plain serves any other request; true when another may follow.
func (c *client) plain(r *request) bool {
	target, refused := absoluteTarget(&c.req)
	if refused == nil {
		refused = c.check(target.authority)
	}
	if refused == nil && c.req.Method == "TRACE" {
		// A proxy on the way may echo what it was sent, credentials included.
		refused = reply.BadRequest(501, "TRACE is not passed on")
	}
	if refused == nil {
		refused = checkHost(&c.req)
	}
	framing, err := c.req.Framing()
	if err != nil {
		c.refuseParse(r, err)
		return false
	}
	if refused != nil {
		c.refuse(r, refused)
		return false
	}
	r.target = target.authority
	if ends(&c.req) {
		return c.options(r)
	}
	x, refused := c.begin(r)
	if refused != nil {
		c.refuse(r, refused)
		return false
	}
	result := c.front.Forward.Serve(&c.life, forward.Request{
		Head: &c.req, Framing: framing, Host: target.host, Origin: target.origin,
		Client: c.conn, Reader: c.br, Exchange: x,
	})
	x.End()
	if refusal := c.sayStopping(r, result.Status, func(b []byte, id string, e *reply.Error) []byte { return e.Append(b, id, r.method) }); refusal != nil {
		result.Status, result.Code, result.Reason, result.Reusable = refusal.Status, refusal.Code, refusal.Text, false
	}
	line := c.line(r, result.Status, result.Code)
	line.Reason = result.Reason
	line.Proxy, line.Attempts = result.Proxy, x.Attempts()
	line.Opened = result.FirstByte
	line.Up, line.Down = result.Up, result.Down
	c.front.report(&line)
	return result.Reusable && c.req.KeepAlive() && !c.front.isStopping()
}

func (f *Front) isStopping() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stopping
}
