package front

import (
	"crypto/tls"
	"io"
	"time"
)

func (c *client) closeIfIdle() {
	if c.idle.Load() {
		_ = c.tcp.Close()
	}
}

// linger is how long input that nobody wants is read before the connection is
// closed.
const linger = time.Second

// lingerClose closes so that what was written last arrives: a plain close with
// unread input resets the connection, and the client may lose the answer. Only
// time limits it: a client in the middle of an upload looks for an answer
// between two writes, however much it has sent by then.
func (c *client) lingerClose() {
	defer func() { _ = c.tcp.Close() }()
	if secure, ok := c.conn.(*tls.Conn); ok {
		_ = secure.CloseWrite() // for those that take an end without it for an attack
	}
	if c.tcp.CloseWrite() != nil {
		return
	}
	_ = c.tcp.SetReadDeadline(time.Now().Add(linger))
	_, _ = io.Copy(io.Discard, c.tcp)
}
