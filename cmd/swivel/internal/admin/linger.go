package admin

import (
	"io"
	"net"
	"time"
)

// linger is how long input that nobody wants is read before the connection is
// closed.
const linger = time.Second

// lingering is a listener whose connections let the client read an answer that
// comes before it has sent all of its request: a plain close with unread input
// resets the connection, and the answer is lost.
type lingering struct{ net.Listener }

// Accept waits for the next connection.
func (l lingering) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		return lingeringConn{tcp}, err
	}
	return conn, err
}

// lingeringConn is told by [http.Server] to close one way when it closes before the
// request is at its end. What comes then is read away. Only time limits it, as on
// the listener for clients; who closes the connection meanwhile ends it.
type lingeringConn struct{ *net.TCPConn }

// CloseWrite says that nothing more is written, and waits for the client to close.
func (c lingeringConn) CloseWrite() error {
	err := c.TCPConn.CloseWrite()
	if err == nil {
		_ = c.SetReadDeadline(time.Now().Add(linger))
		_, _ = io.Copy(io.Discard, c.TCPConn)
	}
	return err
}
