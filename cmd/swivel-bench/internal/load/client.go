// Package load is the near side of a benchmark: clients that ask a proxy as fast
// as it answers, and count. It does as little as it can for each request, because
// it shares the processors with what it measures: heads are made once, buffers are
// kept, and of an answer only status and length are read.
package load

import (
	"context"
	"fmt"
	"net"
	"time"
)

// patience is how long one operation may take before it counts as failed.
const patience = 20 * time.Second

// The requests, which look like those of curl.
const (
	target  = "target.test:443"
	fields  = "User-Agent: curl/8.5.0\r\nAccept: */*\r\n"
	connect = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\nUser-Agent: curl/8.5.0\r\nProxy-Connection: Keep-Alive\r\n\r\n"
	plain   = "GET http://target.test/x HTTP/1.1\r\nHost: target.test\r\n" + fields + "Proxy-Connection: Keep-Alive\r\n\r\n"
	inside  = "GET /x HTTP/1.1\r\nHost: target.test\r\n" + fields + "\r\n"
	bulk    = "GET /bulk/%d HTTP/1.1\r\nHost: target.test\r\n" + fields + "\r\n"
)

var (
	connectHead = []byte(connect)
	plainHead   = []byte(plain)
	insideHead  = []byte(inside)
)

// Client is one client of the proxy; not for several goroutines at once.
type Client struct {
	proxy string
	conn  net.Conn // nil if there is none
	buf   []byte
}

// NewClient makes a client of the proxy at that address. It connects when it
// has something to ask.
func NewClient(proxy string) *Client {
	return &Client{proxy: proxy, buf: make([]byte, 4<<10)}
}

// dialer sets no keep-alive probes, which are four system calls each.
var dialer = net.Dialer{Timeout: patience, KeepAlive: -1}

func (c *Client) dial() (err error) {
	if c.conn, err = dialer.DialContext(context.Background(), "tcp", c.proxy); err != nil {
		c.conn = nil
		return err
	}
	return c.conn.SetDeadline(time.Now().Add(patience))
}

// Close ends the connection, if there is one.
func (c *Client) Close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// Detach hands the connection over to the caller, who closes it.
func (c *Client) Detach() net.Conn {
	conn := c.conn
	c.conn = nil
	_ = conn.SetDeadline(time.Time{})
	return conn
}

// Tunnel opens a tunnel, makes one request in it, and closes it.
func (c *Client) Tunnel() error {
	c.Close()
	defer c.Close()
	return c.OpenTunnel()
}

// OpenTunnel opens a tunnel, makes one request in it, and leaves it open.
func (c *Client) OpenTunnel() error {
	if err := c.connect(); err != nil {
		return err
	}
	_, err := c.ask(insideHead)
	return err
}

// connect opens a tunnel.
func (c *Client) connect() error {
	if err := c.dial(); err != nil {
		return err
	}
	if _, err := c.ask(connectHead); err != nil {
		return fmt.Errorf("CONNECT: %w", err)
	}
	return nil
}

// Plain makes a plain request on the connection that is kept; on a new one at
// first, after a failure, and with proxies that close after each answer.
func (c *Client) Plain() error {
	if c.conn == nil {
		if err := c.dial(); err != nil {
			return err
		}
	} else if err := c.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	closes, err := c.ask(plainHead)
	if closes {
		c.Close()
	}
	return err
}

// PlainAgain is Plain, once more on a new connection when the one that was kept
// has been closed, as every client does it: tinyproxy closes after each answer
// without a word.
func (c *Client) PlainAgain() error {
	kept := c.conn != nil
	err := c.Plain()
	if err == nil || !kept {
		return err
	}
	c.Close()
	return c.Plain()
}

// ask sends a request and reads the answer.
func (c *Client) ask(request []byte) (closes bool, err error) {
	if _, err := c.conn.Write(request); err != nil {
		return false, err
	}
	return readAnswer(c.conn, c.buf)
}

// Bulk downloads mib MiB through one tunnel, and closes it. It gives up when ctx
// ends, and when nothing comes for a while.
func (c *Client) Bulk(ctx context.Context, mib int) error {
	c.Close()
	defer c.Close()
	if err := c.connect(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c.conn, bulk, mib); err != nil {
		return err
	}
	a, have, err := readHead(c.conn, c.buf)
	if err != nil {
		return err
	}
	if a.length != int64(mib)<<20 {
		return fmt.Errorf("%d bytes are promised, not %d MiB", a.length, mib)
	}
	large := make([]byte, 256<<10)
	for left := a.length - int64(have); left > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		n, err := c.conn.Read(large)
		if left -= int64(n); err != nil && left > 0 {
			return fmt.Errorf("%d bytes are missing: %w", left, err)
		}
	}
	return nil
}
