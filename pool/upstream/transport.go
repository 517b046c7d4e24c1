package upstream

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/http1"
)

// Limits of kept connections: a proxy's idle connections are few and short
// lived, because a scraper's requests come in bursts and targets close early.
const (
	maxIdle     = 32
	idleTimeout = 50 * time.Second
)

// Transport sends plain requests through one proxy and keeps its idle
// connections. There is one for every proxy: a pool of connections shared by
// several would mix their exits. For the same reason a connection made with some
// credentials carries only requests with the same, for those of a gateway may be
// filled in anew for every attempt. It is safe for concurrent use.
type Transport struct {
	dialer   *Dialer
	spec     *pool.Spec    // as its line has it
	response time.Duration // for a response head
	room     *idleRoom     // nil: only maxIdle counts
	echoes   *echoes       // of all proxies

	mu     sync.Mutex
	idle   []*session // the one that was used last is last
	closed bool
}

// NewTransport returns a transport for the proxy. response bounds the wait for
// the head of a response.
func NewTransport(d *Dialer, p *pool.Spec, response time.Duration) *Transport {
	return &Transport{dialer: d, spec: p, response: response}
}

// Request is a plain request, ready but for what depends on the proxy.
type Request struct {
	Method    string
	Absolute  string       // the target in absolute-form, for HTTP proxies
	Origin    string       // the target in origin-form, for a tunnel to the server
	Authority string       // host:port of the target
	Fields    http1.Fields // end-to-end ones, with Host and framing
	Framing   http1.Framing
	Held      []byte      // the whole body, if it was read already
	Body      *http1.Body // else the body to stream
	Source    BodySource  // of Body
	Upgrade   bool        // the fields ask to switch protocols
	Hops      int         // how many swivels it has passed
	Client    any         // the client's connection, to tell it from others; comparable
	// Interim gets each 1xx response (but 101) as it comes.
	Interim func(*http1.Response)
}

// idempotent methods may be sent again (RFC 9110 section 9.2.2).
func (r *Request) idempotent() bool {
	switch r.Method {
	case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PROPFIND":
		return true
	}
	return false
}

// Repeatable says whether the request may be sent to another proxy although
// this one may have passed it on.
func (r *Request) Repeatable() bool { return r.idempotent() && r.Body == nil }

// RoundTrip sends the request and returns the response when its head is there.
// p is the transport's proxy with the credentials of this attempt. dial bounds
// connecting, life ends everything. The error is an *Error whose Sent says
// whether the proxy may have seen the request.
func (t *Transport) RoundTrip(dial, life context.Context, p *pool.Spec, r *Request) (*Response, error) {
	for {
		s, err := t.session(dial, p, r)
		if err != nil {
			return nil, err
		}
		resp, err := s.roundTrip(life, r)
		s.echo.over()
		if err == nil {
			return resp, nil
		}
		s.close()
		if s.reused && !s.heard && r.Repeatable() && life.Err() == nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			continue // the proxy had closed an idle connection: that is no fault
		}
		return nil, s.explain(life, err)
	}
}

// key tells which requests a connection can carry: those with the credentials
// that it was made with, and of these those for one target if it is a tunnel, all
// if it ends at an HTTP proxy.
type key struct {
	user     string
	password pool.Secret
	target   string // "" for all
}

func keyOf(p *pool.Spec, r *Request) key {
	k := key{user: p.User, password: p.Password}
	if tunnelled(p, r) {
		k.target = r.Authority
	}
	return k
}

// tunnelled says whether the request goes to the server itself, through a
// tunnel: a SOCKS proxy knows no HTTP, and most HTTP proxies drop a request to
// switch protocols, which RFC 6455 section 4.1 therefore sends through CONNECT.
func tunnelled(p *pool.Spec, r *Request) bool {
	return p.Scheme != pool.HTTP && p.Scheme != pool.HTTPS || r.Upgrade
}

// session takes an idle connection or opens one. A request that must not be
// repeated gets a new one: on an old one it could get lost without anybody
// knowing whether it was carried out.
func (t *Transport) session(ctx context.Context, p *pool.Spec, r *Request) (*session, error) {
	if r.Repeatable() && !r.Upgrade {
		if s := t.take(keyOf(p, r), r.Client); s != nil {
			return s, nil
		}
	}
	var conn *Conn
	var err error
	if tunnelled(p, r) {
		conn, err = t.dialer.Tunnel(ctx, p, r.Authority, r.Hops)
	} else {
		conn, err = t.dialer.Hop(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	KeepAlive(conn.Conn)
	return newSession(t, p, r, conn), nil
}

func (t *Transport) take(k key, client any) *session {
	for {
		s := t.pop(k, client)
		if s == nil {
			return nil
		}
		if time.Since(s.since) < idleTimeout && s.quiet() {
			s.reused, s.heard = true, false
			return s
		}
		s.close()
	}
}

func (t *Transport) pop(k key, client any) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.find(k, client)
	if i < 0 {
		return nil
	}
	s := t.idle[i]
	t.idle = slices.Delete(t.idle, i, i+1)
	t.room.leave(1)
	return s
}

// put keeps a connection for the next request. When there are too many, the
// one of the proxy that has been idle for longest has to go.
func (t *Transport) put(s *session) {
	s.since = time.Now()
	t.mu.Lock()
	surplus := s
	if !t.closed && !s.proxy.Rotating {
		switch {
		case len(t.idle) < maxIdle && t.room.enter():
			surplus = nil
			t.idle = append(t.idle, s)
		case len(t.idle) > 0:
			surplus = t.idle[0]
			t.idle = append(slices.Delete(t.idle, 0, 1), s)
		}
	}
	t.mu.Unlock()
	if surplus != nil {
		surplus.close()
	}
}

// CloseIdle closes the connections that have been idle for longer than a
// server is likely to keep them. Call it now and then.
func (t *Transport) CloseIdle(now time.Time) {
	t.closeIf(func(s *session) bool { return now.Sub(s.since) >= idleTimeout })
}

// Close closes all idle connections; those in use are closed after use.
func (t *Transport) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.closeIf(func(*session) bool { return true })
}

func (t *Transport) closeIf(old func(*session) bool) {
	t.mu.Lock()
	var closing []*session
	t.idle = slices.DeleteFunc(t.idle, func(s *session) bool {
		if !old(s) {
			return false
		}
		closing = append(closing, s)
		return true
	})
	t.room.leave(len(closing))
	t.mu.Unlock()
	for _, s := range closing {
		s.close()
	}
}

// explain turns what went wrong behind the connect into an *Error.
func (s *session) explain(life context.Context, err error) error {
	var mine *Error
	e := &Error{Signal: pool.ResponseClosed, Err: err, Sent: true}
	var timeout net.Error
	switch {
	case errors.As(err, &mine):
		return err
	case life.Err() != nil:
		e.Signal = pool.ClientGone
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Signal = pool.ResponseTimeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		e.Signal = pool.ResponseClosed
	case errors.Is(err, http1.ErrNotHTTP), errors.Is(err, http1.ErrFraming), errors.Is(err, errInterim),
		errors.Is(err, http1.ErrHeadTooLarge), errors.Is(err, http1.ErrLineTooLong):
		e.Signal = pool.ResponseGarbage
	}
	return e
}
