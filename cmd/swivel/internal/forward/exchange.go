package forward

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/elazarl/goproxy"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/reply"
	"swivel/cmd/swivel/internal/tunnel"
	"swivel/pool"
	"swivel/pool/upstream"
	"swivel/pool/upstream/http1"
	"swivel/pool/upstream/lifetime"
)

// exchange is one request on its way through goproxy: it is the response
// writer, and by the request's context the round tripper finds it again.
type exchange struct {
	Request
	handler *Handler
	life    *lifetime.Context
	began   time.Time
	result  Result

	fields http1.Fields // what is passed on: of the request, then of the response

	body   http1.Body // of the request, when it is streamed
	source clientBody // of body
	held   []byte     // the whole body, when it is small

	hints   hints // of the attempts
	out     upstream.Request
	lease   *pool.Lease
	resp    *upstream.Response
	refusal *reply.Error
	stop    func()        // the watch for a client that leaves
	follows lifetime.Hook // of the response, on the client's life
	settled bool
	probe   *time.Timer // settles the test of a resting proxy; nil: it is none

	header      http.Header // of the response, as goproxy may have changed it
	wroteHeader bool
	headDue     bool // the response's head is not yet sent
	closing     bool // the client's connection ends behind the response
	broken      bool // the response could not be completed
}

type contextKey struct{}

// httpRequest is the request as goproxy's handlers see it. The URL is opaque,
// the target as it was received; it is not what goes on the wire.
func (x *exchange) httpRequest() *http.Request {
	x.fields = passed(x.Head.Fields, x.Framing, x.upgrades())
	_, opaque, _ := strings.Cut(x.Head.Target, ":")
	r := &http.Request{
		Method: x.Head.Method, Host: x.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		URL:        &url.URL{Scheme: "http", Host: x.Exchange.Target, Opaque: opaque},
		Header:     toHeader(x.fields),
		RequestURI: x.Head.Target,
		Body:       http.NoBody,
	}
	return r.WithContext(context.WithValue(x.life, contextKey{}, x))
}

// roundTripper is the only way out for goproxy.
type roundTripper struct{}

// RoundTrip implements goproxy.RoundTripper. It never returns an error:
// goproxy would show its text to the client.
func (roundTripper) RoundTrip(r *http.Request, _ *goproxy.ProxyCtx) (*http.Response, error) {
	x := r.Context().Value(contextKey{}).(*exchange)
	x.run(r.Header)
	resp := &http.Response{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, Body: content{x}}
	if x.resp == nil {
		resp.StatusCode = tunnel.ClientLeft
		if x.refusal != nil {
			resp.StatusCode = x.refusal.Status
		}
		resp.Header = http.Header{}
		return resp, nil
	}
	resp.StatusCode = x.resp.Status
	x.fields = passed(x.resp.Fields, x.sentFraming(), x.resp.Status == 101)
	resp.Header = toHeader(x.fields)
	return resp, nil
}

// run makes the attempts; afterwards either resp or refusal is set, or the
// client has left.
func (x *exchange) run(header http.Header) {
	x.prepare(header)
	defer x.hints.end()
	if x.held != nil {
		x.watch()
	}
	got, lease, err := x.attempt(nil)
	if err != nil {
		x.refusal = refusalOf(err)
		return
	}
	for x.unwanted(got.resp) {
		if lease.Probe { // to a test the body belongs
			x.limitTest(lease)
		} else {
			x.Exchange.Reached(lease, pool.Response, 0)
		}
		next, nextLease, err := x.attempt(lease)
		if err != nil { // what the target said is a better answer than none
			x.settled = !lease.Probe
			break
		}
		x.replaced(lease, got)
		got, lease = next, nextLease
	}
	x.serve(got, lease)
	if got.resp.Status == http.StatusProxyAuthRequired {
		x.withhold(reply.TargetAuth())
	}
}

// attempt tries proxies until one brings a response. after is the lease of one
// that is not wanted, if any.
func (x *exchange) attempt(after *pool.Lease) (answer, *pool.Lease, error) {
	got, lease, err := attempts.Run(x.life, x.Exchange, attempts.Plan[answer]{
		Try:  x.try,
		Late: x.late,
		// A request that may be sent twice can be overtaken on another proxy: it
		// may test a resting one, and need not wait for a black hole.
		Probe: x.out.Repeatable(),
		After: after,
	})
	if err == nil {
		lease.Answered(x.Exchange.Age(lease))
		x.Exchange.TargetUp(lease)
		if slices.Contains(x.handler.settings.Bans, got.resp.Status) {
			x.Exchange.Ban(lease, upstream.RetryAfter(got.resp.Fields, time.Now()))
		}
	}
	return got, lease, err
}

// unwanted says whether another proxy may get a better response. The one of a
// session may not: to the target it would be somebody else.
func (x *exchange) unwanted(resp *upstream.Response) bool {
	return !x.Exchange.Sticky() && slices.Contains(x.handler.settings.Retries, resp.Status) && x.out.Repeatable()
}

// serve takes the response that the client gets.
func (x *exchange) serve(got answer, lease *pool.Lease) {
	x.resp, x.lease = got.resp, lease
	x.follows = lifetime.AfterFunc(x.life, got.cut) // from here on the client's leaving ends it
	x.result.Proxy = lease.Proxy
	x.result.FirstByte = time.Since(x.began)
	if lease.Probe && x.probe == nil {
		x.limitTest(lease)
	}
}

// withhold answers with a refusal in place of the response. That came from the
// target, whatever it is.
func (x *exchange) withhold(e *reply.Error) {
	x.settle(pool.Response)
	_, streamed := x.resp.Close()
	x.result.Up += streamed
	x.resp, x.refusal = nil, e
}

// refusalOf is what the client is told; nil if it has left.
func refusalOf(err error) *reply.Error {
	var refusal *reply.Error
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.Is(err, http1.ErrChunk), errors.Is(err, http1.ErrHeadTooLarge):
		return reply.BadRequest(400, "the chunked body is malformed")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return reply.BadRequest(408, "the request body did not arrive in time")
	}
	return nil
}

// watch ends everything when the client leaves.
func (x *exchange) watch() { x.stop = tunnel.WatchGone(x.Client, x.life.Cancel) }

// prepare makes the request as every proxy gets it.
func (x *exchange) prepare(header http.Header) {
	x.out = upstream.Request{
		Method: x.Head.Method, Absolute: absoluteForm(x.Head.Target), Origin: x.Origin,
		Authority: x.Exchange.Target, Fields: withHost(merge(x.fields, header), x.Host, x.Head.Minor),
		Framing: x.Framing, Held: x.held, Upgrade: x.upgrades(), Hops: x.Exchange.Hops, Client: x.Client, Source: &x.source, Interim: x.interim,
	}
	if x.held == nil {
		x.out.Body = &x.body
	}
}

// upgrades says whether the client is helped to switch protocols. Only websocket
// is worth a tunnel; an offer of nothing but others, as h2c, may be ignored (RFC 9110
// section 7.8).
func (x *exchange) upgrades() bool { return x.Head.Upgrades("websocket") }

// answer is what an attempt yields: a response, and how to end its life.
type answer struct {
	resp *upstream.Response
	cut  context.CancelFunc
}

// try is one attempt.
func (x *exchange) try(ctx context.Context, l *pool.Lease) (answer, error) {
	// One that is overtaken goes on when the exchange is over, so the exchange's
	// context must not be what its life hangs on.
	life := &lifetime.Context{}
	defer lifetime.AfterFunc(ctx, life.Cancel).Stop()
	resp, err := x.handler.transports.For(l.Proxy).RoundTrip(ctx, life, l.Spec, &x.out)
	if err == nil {
		err = judge(resp)
	}
	if err == nil {
		return answer{resp, life.Cancel}, nil
	}
	life.Cancel()
	var e *upstream.Error
	if errors.As(err, &e) && e.Sent && !x.out.Repeatable() {
		return answer{}, &attempts.Final{Err: err}
	}
	return answer{}, err
}

// judge tells a response of the target from one that the proxy made up.
func judge(resp *upstream.Response) error {
	signal, rest := resp.Signal(time.Now())
	if signal == pool.Response {
		return nil
	}
	resp.Close()
	return &upstream.Error{Signal: signal, Status: resp.Status, RetryAfter: rest, Sent: true,
		Err: fmt.Errorf("the proxy answered %d itself", resp.Status)}
}

// settle gives the verdict on the proxy once.
func (x *exchange) settle(s pool.Signal) {
	if x.settled || x.lease == nil {
		return
	}
	x.settled = true
	if s == pool.Response {
		x.Exchange.Reached(x.lease, s, 0)
		return
	}
	x.Exchange.Fail(x.lease, pool.Fault{Signal: s})
}

// vacate says that the proxy's connection is no longer used.
func (x *exchange) vacate() {
	if x.lease != nil {
		if x.probe != nil {
			x.probe.Stop()
		}
		x.follows.Stop()
		x.lease.Release()
	}
}
