package front

import (
	"io"
	"time"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/forward"
	"swivel/cmd/swivel/internal/reply"
	"swivel/cmd/swivel/internal/tunnel"
	"swivel/pool/upstream/http1"
)

// connect serves a CONNECT; the connection is used up by it.
func (c *client) connect(r *request) {
	target, refused := connectTarget(c.req.Target)
	if refused == nil {
		refused = oneHost(&c.req)
	}
	if refused == nil {
		refused = c.check(target)
	}
	if refused != nil {
		c.refuse(r, refused)
		return
	}
	r.target = target
	c.tunnel(r, tunnel.HTTP{})
}

// tunnel serves a request for a tunnel whose target may be asked for.
func (c *client) tunnel(r *request, answers tunnel.Answers) {
	var early []byte
	if n := c.br.Buffered(); n > 0 {
		early = make([]byte, n)
		_, _ = io.ReadFull(c.br, early)
	}
	c.release()
	x, refused := c.begin(r)
	if refused != nil {
		c.refuse(r, refused)
		return
	}
	c.req = http1.Request{} // nobody reads it any more, and tunnels last
	report := func(result tunnel.Result) { c.reportTunnel(r, x, result) }
	result, open := c.front.Tunnel.Serve(&c.life, c.conn, early, x, answers, func(result tunnel.Result) {
		report(result)
		c.front.forget(c)
	})
	if c.away = open; !open {
		if refusal := c.sayStopping(r, result.Status, answers.Refused); refusal != nil {
			result.Status, result.Code, result.Reason = refusal.Status, refusal.Code, refusal.Text
		}
		report(result)
	}
}

// sayStopping answers a request that has no answer, since the process ends and not
// because the client has left; nil if that is not so.
func (c *client) sayStopping(r *request, status int, refused func([]byte, string, *reply.Error) []byte) *reply.Error {
	if status != tunnel.ClientLeft || !c.cut.Load() {
		return nil
	}
	refusal := reply.Stopping()
	_ = c.conn.SetWriteDeadline(time.Now().Add(lastWords))
	_, _ = c.conn.Write(refused(nil, r.id, refusal))
	return refusal
}

func (c *client) reportTunnel(r *request, x *attempts.Exchange, result tunnel.Result) {
	line := c.line(r, result.Status, result.Code)
	line.Reason = result.Reason
	line.Proxy, line.Attempts = result.Proxy, x.Attempts()
	line.Opened = result.Opened
	line.Up, line.Down = result.Traffic.Up, result.Traffic.Down
	c.front.report(&line)
}

// plain serves any other request; true when another may follow.
func (c *client) plain(r *request) bool {
	target, refused := c.plainTarget()
	framing, err := c.req.Framing()
	switch {
	case err != nil:
		c.refuseParse(r, err)
		return false
	case refused != nil:
		c.refuse(r, refused)
		return false
	}
	r.target = target.authority
	if ends(&c.req) {
		return c.options(r)
	}
	x, refused := c.begin(r)
	if refused != nil {
		c.refuse(r, refused)
		return false
	}
	result := c.forward(r, x, forward.Request{
		Head: &c.req, Framing: framing, Host: target.host, Origin: target.origin,
		Client: c.conn, Reader: c.br, Exchange: x,
	})
	c.reportPlain(r, x, &result)
	return result.Reusable && c.req.KeepAlive() && !c.front.isStopping()
}

// plainTarget is where a request other than CONNECT goes, if it may.
func (c *client) plainTarget() (plainTarget, *reply.Error) {
	target, refused := absoluteTarget(&c.req)
	if refused == nil {
		refused = c.check(target.authority)
	}
	if refused == nil && c.req.Method == "TRACE" {
		// A proxy on the way may echo what it was sent, credentials included.
		refused = reply.BadRequest(501, "TRACE is not passed on")
	}
	if refused == nil {
		refused = checkHost(&c.req)
	}
	return target, refused
}

// forward has a request served, and ends its exchange.
func (c *client) forward(r *request, x *attempts.Exchange, asked forward.Request) forward.Result {
	result := c.front.Forward.Serve(&c.life, asked)
	x.End()
	refusal := c.sayStopping(r, result.Status, func(b []byte, id string, e *reply.Error) []byte { return e.Append(b, id, r.method) })
	if refusal != nil {
		result.Status, result.Code, result.Reason, result.Reusable = refusal.Status, refusal.Code, refusal.Text, false
	}
	return result
}

func (c *client) reportPlain(r *request, x *attempts.Exchange, result *forward.Result) {
	line := c.line(r, result.Status, result.Code)
	line.Reason = result.Reason
	line.Proxy, line.Attempts = result.Proxy, x.Attempts()
	line.Opened = result.FirstByte
	line.Up, line.Down = result.Up, result.Down
	c.front.report(&line)
}
