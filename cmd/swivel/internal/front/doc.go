// Package front is the listener that clients talk to. It reads each request
// head itself, says who sent it, refuses what is malformed or not allowed, and
// hands the rest on: CONNECT, of HTTP and of SOCKS5, to package tunnel, everything
// else to package forward.
//
// One goroutine serves one client connection. A CONNECT may be the first
// request on it or follow plain ones; what the client sent behind its head is
// handed on with it.
package front
