package front

import (
	"encoding/hex"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/limit"
	"swivel/cmd/swivel/internal/reply"
	"swivel/cmd/swivel/internal/socks"
	"swivel/pool"
	"swivel/pool/upstream/http1"
)

// request is one request of a client, as far as it is known.
type request struct {
	id     string
	kind   string // "connect", "plain", "socks5"; "socks4" is always refused
	method string // of HTTP
	target string // host:port, once it was found to be good
	began  time.Time
	*caller
}

func newRequest(kind string) *request {
	return &request{id: newRequestID(), kind: kind, began: time.Now(), caller: &nobody}
}

// methodOf is the method of a request. That of CONNECT does not keep the whole head
// in memory as long as the tunnel lasts.
func methodOf(req *http1.Request) string {
	if req.Method == "CONNECT" {
		return "CONNECT"
	}
	return req.Method
}

func kindOf(method string) string {
	if method == "CONNECT" {
		return "connect"
	}
	return "plain"
}

// newRequestID returns 16 hexadecimal digits.
func newRequestID() string {
	var b [8]byte
	r := rand.Uint64()
	for i := range b {
		b[i] = byte(r >> (8 * i))
	}
	return hex.EncodeToString(b[:])
}

// wish is what the request asks of the pool.
func (r *request) wish() pool.Request {
	return pool.Request{ID: r.id, Target: r.target, Client: r.name, Route: r.route}
}

// whose is the client whose limits the request counts against.
func (c *client) whose(r *request) limit.Client {
	if r.user != "" {
		return limit.User(r.user)
	}
	return c.addr
}

// countFor counts the connection for who was found to use it.
func (c *client) countFor(r *request) *reply.Error {
	who := c.whose(r)
	if who == c.counted {
		return nil
	}
	if !c.front.PerClient.Enter(who) {
		return reply.TooManyConnections()
	}
	c.front.PerClient.Leave(c.counted)
	c.counted = who
	return nil
}

// begin starts the exchange of a client that is within its rate. One whose target
// is known to be down is told that first, and pays no token for it. A client over
// its rate must not get as far as the pool: of a target that is down one exchange
// tries at a time, and it would be the one that may not.
func (c *client) begin(r *request) (*attempts.Exchange, *reply.Error) {
	who, now := c.whose(r), time.Now()
	if wait := c.front.Rate.Wait(who, now); wait > 0 {
		if rest := c.front.Loop.Pool.TargetRests(r.target, now); rest > 0 {
			return nil, reply.TargetRests(rest)
		}
		return nil, reply.RateLimited(wait)
	}
	c.warnOfSlip(r, now)
	x := c.front.Loop.Begin(r.wish())
	x.Hops = r.hops
	if x.Refused() {
		return x, nil
	}
	if wait := c.front.Rate.Take(who, now); wait > 0 { // somebody else was quicker
		x.End()
		return nil, reply.RateLimited(wait)
	}
	return x, nil
}

// line is the log line of a request that ends now.
func (c *client) line(r *request, status int, code string) eventlog.Exchange {
	line := eventlog.Exchange{
		ID: r.id, Kind: r.kind, Client: c.name, User: r.user, Session: r.route.Session,
		Target: r.target, Status: status, Code: code, Took: time.Since(r.began),
	}
	if r.kind == "plain" {
		line.Method = r.method
	}
	return line
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
