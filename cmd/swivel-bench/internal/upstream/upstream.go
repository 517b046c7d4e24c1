// Package upstream is the far side of a benchmark: proxies that grant every
// CONNECT and are themselves the target behind it, so that one socket stands for
// both and the machine has little to do but to run the proxy that is measured.
//
// They answer every request with a body of BodySize bytes, one for /bulk/N with N
// MiB, on connections that stay open until the client closes them.
package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"
)

const (
	// BodySize is how long an ordinary answer's body is, in bytes.
	BodySize = 1024
	// maxHead is the longest head that is read; proxies add a few fields to what
	// the load sends.
	maxHead = 2048
	// chunk is how much of a bulk answer is written at once.
	chunk = 256 << 10
	// MaxBulk is the most MiB that are sent at a time.
	MaxBulk = 1 << 20
)

var (
	granted = []byte("HTTP/1.1 200 Connection established\r\n\r\n")
	answer  = append(head(BodySize), bytes.Repeat([]byte("x"), BodySize)...)
	filling = bytes.Repeat([]byte("x"), chunk)
)

func head(length int64) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n", length)
}

// Proxies are the upstream proxies of one benchmark.
type Proxies struct {
	listeners []net.Listener
	serving   sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

// Start listens on n ports of the loopback that the system picks.
func Start(n int) (*Proxies, error) {
	p := &Proxies{conns: map[net.Conn]struct{}{}}
	// Keep-alive probes would be four system calls for each connection, and find
	// nobody dead on a loopback.
	config := net.ListenConfig{KeepAlive: -1}
	for range n {
		ln, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			p.Close()
			return nil, err
		}
		p.listeners = append(p.listeners, ln)
		p.serving.Go(func() { p.accept(ln) })
	}
	return p, nil
}

// Ports are where they listen.
func (p *Proxies) Ports() (ports []int) {
	for _, ln := range p.listeners {
		ports = append(ports, ln.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// Close ends all connections and returns when nothing is left.
func (p *Proxies) Close() {
	for _, ln := range p.listeners {
		_ = ln.Close()
	}
	p.mu.Lock()
	p.closed = true
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.serving.Wait()
}

func (p *Proxies) accept(ln net.Listener) {
	for {
		c, err := ln.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // no descriptors, say; the load notices that it is not served
			time.Sleep(10 * time.Millisecond)
			continue
		}
		p.serving.Go(func() { p.serve(c) })
	}
}

// hold notes a connection for Close; false if that has happened.
func (p *Proxies) hold(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.conns[c] = struct{}{}
	}
	return !p.closed
}

func (p *Proxies) serve(c net.Conn) {
	defer c.Close()
	if !p.hold(c) {
		return
	}
	defer func() {
		p.mu.Lock()
		delete(p.conns, c)
		p.mu.Unlock()
	}()
	for buf, have := make([]byte, maxHead), 0; ; {
		n, err := c.Read(buf[have:]) // none if the buffer is full, which ends it too
		if err != nil || n == 0 {
			return
		}
		have += n
		for {
			end := bytes.Index(buf[:have], []byte("\r\n\r\n"))
			if end < 0 {
				break
			}
			if respond(c, buf[:end]) != nil {
				return
			}
			have = copy(buf, buf[end+4:have])
		}
	}
}

// respond answers one request.
func respond(c net.Conn, request []byte) (err error) {
	switch size := bulkSize(request); {
	case bytes.HasPrefix(request, []byte("CONNECT ")):
		_, err = c.Write(granted)
	case size > 0:
		_, err = c.Write(head(size))
		for ; err == nil && size > 0; size -= chunk {
			_, err = c.Write(filling)
		}
	default:
		_, err = c.Write(answer)
	}
	return err
}

// bulkSize is what a request for /bulk/N asks for, in bytes; 0 for others.
func bulkSize(request []byte) int64 {
	line, _, _ := bytes.Cut(request, []byte("\r\n"))
	_, rest, found := bytes.Cut(line, []byte("/bulk/"))
	number, _, _ := bytes.Cut(rest, []byte(" "))
	mib, err := strconv.ParseInt(string(number), 10, 64)
	if !found || err != nil || mib < 0 || mib > MaxBulk {
		return 0
	}
	return mib << 20
}
