package front

import (
	"encoding/hex"
	"math/rand/v2"
	"time"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/limit"
	"swivel/cmd/swivel/internal/reply"
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
