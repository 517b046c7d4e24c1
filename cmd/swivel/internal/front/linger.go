package front

import (
	"crypto/tls"

	"swivel/cmd/swivel/internal/socket"
)

func (c *client) closeIfIdle() {
	if c.idle.Load() {
		_ = c.tcp.Close()
	}
}

// lingerClose closes so that what was written last arrives.
func (c *client) lingerClose() {
	defer func() { _ = c.tcp.Close() }()
	if secure, ok := c.conn.(*tls.Conn); ok {
		_ = secure.CloseWrite() // for those that take an end without it for an attack
	}
	_ = socket.Linger(c.tcp)
}
