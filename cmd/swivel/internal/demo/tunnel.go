package demo

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

// tunnelAge bounds a tunnel whose ends have both fallen silent.
const tunnelAge = time.Hour

// connect serves a CONNECT: bytes both ways, until both sides have ended.
func (t *toy) connect(w http.ResponseWriter, r *http.Request) {
	conn, err := t.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		t.unreachable(w, err)
		return
	}
	target := conn.(*net.TCPConn)
	client, early, err := hijack(w)
	if err != nil {
		_ = target.Close()
		return
	}
	defer t.left()
	relay(t.ctx, client, target, early)
}

// hijack takes the connection from the server, with what the client has sent
// behind its request already.
func hijack(w http.ResponseWriter) (client *net.TCPConn, early []byte, err error) {
	conn, buffer, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, nil, err
	}
	early = make([]byte, buffer.Reader.Buffered())
	_, err = io.ReadFull(buffer, early)
	return conn.(*net.TCPConn), early, err
}

// relay passes bytes on until both sides have ended, or ctx has.
func relay(ctx context.Context, client, target *net.TCPConn, early []byte) {
	cut := func() {
		_ = client.Close()
		_ = target.Close()
	}
	defer cut()
	defer context.AfterFunc(ctx, cut)()
	end := time.Now().Add(tunnelAge)
	_ = client.SetDeadline(end)
	_ = target.SetDeadline(end)
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	if _, err := target.Write(early); err != nil {
		return
	}
	back := make(chan struct{})
	go func() {
		defer close(back)
		pass(client, target, cut)
	}()
	pass(target, client, cut)
	<-back
}

// pass copies until the sender has ended, and tells the receiver: protocols
// that end one way first still get their answer the other way. A connection
// that broke ends both ways.
func pass(to, from *net.TCPConn, cut func()) {
	if _, err := io.Copy(to, from); err != nil {
		cut()
		return
	}
	_ = to.CloseWrite()
}
