package admin

import (
	"net"

	"swivel/cmd/swivel/internal/socket"
)

// lingering is a listener whose connections let the client read an answer that
// comes before it has sent all of its request.
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
// request is at its end. Who closes the connection meanwhile ends the wait.
type lingeringConn struct{ *net.TCPConn }

// CloseWrite says that nothing more is written, and waits for the client to close.
func (c lingeringConn) CloseWrite() error { return socket.Linger(c.TCPConn) }
