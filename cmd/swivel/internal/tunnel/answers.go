package tunnel

import (
	"swivel/cmd/swivel/internal/reply"
	"swivel/pool"
)

// Answers is how a client is told what became of its request: the clients of
// HTTP and of SOCKS expect different bytes. Both methods append to dst.
type Answers interface {
	// Opened says that the lease's proxy carries the tunnel from here on.
	Opened(dst []byte, l *pool.Lease) []byte
	// Refused says that there is no tunnel; id is the request's.
	Refused(dst []byte, id string, e *reply.Error) []byte
}

// HTTP answers a CONNECT request.
type HTTP struct{}

// Opened implements Answers. It bears no framing fields (RFC 9110 section
// 9.3.6).
func (HTTP) Opened(dst []byte, l *pool.Lease) []byte {
	dst = append(dst, "HTTP/1.1 200 Connection established\r\nX-Swivel-Proxy: "...)
	dst = append(dst, l.Proxy.ID...)
	dst = append(append(dst, "\r\nX-Request-Id: "...), l.Request()...)
	if why := l.Moved(); why != "" {
		dst = append(append(dst, "\r\n"+reply.SessionMoved+": "...), why...)
	}
	return append(dst, "\r\n\r\n"...)
}

// Refused implements Answers.
func (HTTP) Refused(dst []byte, id string, e *reply.Error) []byte {
	return e.Append(dst, id, "CONNECT")
}
