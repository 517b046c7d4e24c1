package front

import (
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"swivel/cmd/swivel/internal/reply"
	"swivel/cmd/swivel/internal/socks"
	"swivel/pool/upstream/http1"
)

func (c *client) refuseRead(err error) {
	var timeout net.Error
	r := newRequest("plain")
	switch {
	case errors.Is(err, http1.ErrLineTooLong):
		c.refuse(r, reply.BadRequest(414, "the request line is too long"))
	case errors.Is(err, http1.ErrHeadTooLarge):
		c.refuse(r, reply.BadRequest(431, "the request head is too large"))
	case errors.As(err, &timeout) && timeout.Timeout():
		c.refuse(r, reply.BadRequest(408, "the request head did not arrive in time"))
	}
}

func (c *client) refuseParse(r *request, err error) {
	var bad *http1.Error
	if errors.As(err, &bad) {
		c.refuse(r, reply.FromHTTP(bad))
	}
}

// writeTimeout bounds what is written to a client that may not read.
const writeTimeout = 5 * time.Second

// refuse answers a request that is not served. The connection ends behind it.
func (c *client) refuse(r *request, e *reply.Error) {
	c.tellRefusal(r, e, refusal(r, e))
}

// refusal is what the client understands as one.
func refusal(r *request, e *reply.Error) []byte {
	switch r.kind {
	case "socks5":
		return socksAnswers{}.Refused(nil, r.id, e)
	case "socks4":
		return []byte(socks.Refusal4)
	}
	return e.Append(nil, r.id, r.method)
}

func (c *client) tellRefusal(r *request, e *reply.Error, text []byte) {
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, _ = c.conn.Write(text)
	line := c.line(r, e.Status, e.Code)
	line.Method, line.Reason = "", e.Text
	if r.target == "" {
		line.Target = askedFor(r.method, c.req.Target)
	}
	c.front.report(&line)
}

// turnAway refuses a request whose sender may not come in; true if it may try
// again on the same connection. Clients that send no password before they are
// asked for one do that, and some know no other way.
func (c *client) turnAway(r *request, e *reply.Error) (again bool) {
	length, ok := c.skippable(r)
	if e.Status != 407 || !ok {
		c.refuse(r, e)
		return false
	}
	c.tellRefusal(r, e, e.AppendOpen(nil, r.id, r.method))
	return c.skip(length)
}

// skip reads the body of a request that is answered, so that the next one may
// follow.
func (c *client) skip(length int64) bool {
	_ = c.conn.SetWriteDeadline(time.Time{})
	_ = c.conn.SetReadDeadline(time.Now().Add(skipTimeout))
	_, err := io.CopyN(io.Discard, c.br, length)
	return err == nil
}

// The body of a request that is answered here is read to keep the connection, up to
// that much and for that long.
const (
	maxSkipped  = 64 << 10
	skipTimeout = 5 * time.Second
)

// skippable says whether the next request can be found behind this one, when that is
// answered here, and how many bytes of body lie between. Behind a CONNECT there may be data for the
// target already, and a client that expects a 100 may send its body or not.
func (c *client) skippable(r *request) (length int64, ok bool) {
	framing, err := c.req.Framing()
	switch {
	case err != nil, c.req.Minor == 0, !c.req.KeepAlive(), c.front.isStopping():
		return 0, false
	case r.method == "CONNECT":
		return 0, framing.Kind == http1.NoBody && c.br.Buffered() == 0
	case framing.Kind == http1.NoBody:
		return 0, true
	}
	return framing.Length, framing.Kind == http1.Length && framing.Length <= maxSkipped && !strings.EqualFold(c.req.Fields.Get("Expect"), "100-continue")
}
