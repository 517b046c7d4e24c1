package socket

import (
	"io"
	"net"
	"time"
)

// linger is how long input that nobody wants is read before a connection is closed.
const linger = time.Second

// Linger ends what is written to a connection and reads away what still comes, until
// the other end closes or a second has passed, so that what was written last arrives:
// a plain close with unread input resets the connection, and the other end may lose
// the answer. Only time limits it: a client in the middle of an upload looks for an
// answer between two writes, however much it has sent by then. The connection is still
// to be closed. The error is that of CloseWrite.
func Linger(c *net.TCPConn) error {
	if err := c.CloseWrite(); err != nil {
		return err
	}
	_ = c.SetReadDeadline(time.Now().Add(linger))
	_, _ = io.Copy(io.Discard, c)
	return nil
}
