package front

import (
	"bufio"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"swivel/cmd/swivel/internal/limit"
	"swivel/cmd/swivel/internal/reply"
	"swivel/cmd/swivel/internal/socks"
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
		c.refuse(newRequest("plain"), c.refusedTLS())
	default:
		return true
	}
	return false
}

// refusedTLS is for who begins with TLS where HTTP or SOCKS5 is expected.
func (c *client) refusedTLS() *reply.Error {
	if c.front.TLS != nil {
		return reply.BadRequest(400, "TLS within TLS is not spoken here: ask with CONNECT first")
	}
	return reply.BadRequest(400, "this port speaks no TLS: use an http:// proxy URL")
}
