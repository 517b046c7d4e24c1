package front

import (
	"syscall"
	"time"

	"swivel/cmd/swivel/internal/socks"
)

// firstWords is how long a client for whom there is no place may take to show what
// it speaks. Those that want something say so as soon as they are connected; the
// others get the answer that suits the most.
const firstWords = 200 * time.Millisecond

// refusePlace tells a client that there is no place for it, in the protocol that it
// speaks.
func (c *client) refusePlace() {
	defer c.end()
	defer c.survive()
	if c.front.TLS != nil && !c.handshake(writeTimeout) {
		return
	}
	c.read()
	_ = c.conn.SetReadDeadline(time.Now().Add(firstWords))
	if !c.awaitRequest() || c.speaksHTTP() {
		c.refuse(unread(), c.refused)
	}
	c.release()
}

// refuseQuickly refuses one of too many at once, in what it speaks if that has come
// already. Its answer is lost if it has sent something that is still on its way; it
// fits into the buffer of a new connection, so that this does not wait. With TLS
// nothing can be said that soon.
func (c *client) refuseQuickly() {
	if c.front.TLS == nil {
		text := refusal(unread(), c.refused)
		switch c.firstByte() {
		case socks.Version:
			text = socks.AppendMethod(nil, socks.NoMethod) // to say more takes a request
		case socks.Version4:
			text = []byte(socks.Refusal4)
		}
		_, _ = c.tcp.Write(text)
	}
	_ = c.tcp.Close()
}

// firstByte takes what has come, without waiting, and returns the first byte; 0 if
// there is none.
func (c *client) firstByte() byte {
	came := make([]byte, 1<<10)
	raw, err := c.tcp.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Read(func(fd uintptr) bool {
		_, _, _ = syscall.Recvfrom(int(fd), came, syscall.MSG_DONTWAIT)
		return true
	})
	return came[0]
}

// unread is a request that is refused before it is read; this answer suits the
// most.
func unread() *request {
	r := newRequest("connect")
	r.method = "CONNECT"
	return r
}
