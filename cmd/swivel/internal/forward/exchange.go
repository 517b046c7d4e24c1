package forward

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/elazarl/goproxy"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/reply"
	"swivel/cmd/swivel/internal/tunnel"
	"swivel/pool"
	"swivel/pool/upstream"
	"swivel/pool/upstream/http1"
)

// maxHeld is how large a body may be to be held, so that it can be sent again.
const maxHeld = 64 << 10

// clientLeft is the status logged when nobody waits for an answer any more.
const clientLeft = 499

// exchange is one request on its way through goproxy: it is the response
// writer, and by the request's context the round tripper finds it again.
type exchange struct {
	Request
	handler *Handler
	ctx     context.Context
	cancel  context.CancelFunc
	began   time.Time
	result  Result

	body http1.Body // of the request, when it is streamed
	held []byte     // the whole body, when it is small

	lease   *pool.Lease
	resp    *upstream.Response
	refusal *reply.Error
	stop    func() // the watch for a client that leaves
	settled bool

	header      http.Header // of the response, as goproxy may have changed it
	wroteHeader bool
	head        []byte // of the response, not yet written
	broken      bool   // the response could not be completed
}

type contextKey struct{}

// httpRequest is the request as goproxy's handlers see it. The URL is opaque:
// what goes on the wire is the target as received.
func (x *exchange) httpRequest() *http.Request {
	fields := x.Head.Fields.EndToEnd(make(http1.Fields, 0, len(x.Head.Fields)+1), x.Framing)
	r := &http.Request{
		Method: x.Head.Method, Host: x.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		URL:        &url.URL{Scheme: "http", Host: x.Exchange.Target, Opaque: "//" + x.Exchange.Target + x.Origin},
		Header:     toHeader(fields),
		RequestURI: x.Head.Target,
		RemoteAddr: x.Client.RemoteAddr().String(),
		Body:       http.NoBody,
	}
	return r.WithContext(context.WithValue(x.ctx, contextKey{}, x))
}

// takeBody reads a small body so that it can be sent to several proxies; a
// large or chunked one is streamed, and a client that waits for "100 Continue"
// has to be waited for. False: there is no request to serve.
func (x *exchange) takeBody() bool {
	x.body.Reset(x.Reader, x.Framing)
	small := x.Framing.Kind == http1.NoBody || x.Framing.Kind == http1.Length && x.Framing.Length <= maxHeld
	if !small || x.Head.Fields.Count("Expect") > 0 && x.Framing.Length > 0 {
		return true
	}
	x.held = []byte{} // not nil: held, if empty
	if x.Framing.Kind == http1.NoBody || x.Framing.Length == 0 {
		return true
	}
	x.held = make([]byte, x.Framing.Length)
	_ = x.Client.SetReadDeadline(time.Now().Add(x.handler.response))
	_, err := io.ReadFull(&x.body, x.held)
	_ = x.Client.SetReadDeadline(time.Time{})
	if err == nil {
		x.body.Reset(nil, http1.Framing{})
		x.result.Up = x.Framing.Length
		return true
	}
	x.result.Status, x.result.Code = clientLeft, "client_gone"
	return false
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
		resp.StatusCode = clientLeft
		if x.refusal != nil {
			resp.StatusCode = x.refusal.Status
		}
		resp.Header = http.Header{}
		return resp, nil
	}
	resp.StatusCode = x.resp.Status
	resp.Header = toHeader(x.resp.Fields.EndToEnd(nil, x.resp.Framing))
	return resp, nil
}

// run makes the attempts; afterwards either resp or refusal is set, or the
// client has left.
func (x *exchange) run(header http.Header) {
	out := x.outgoing(header)
	if x.held != nil {
		x.stop = tunnel.WatchGone(x.Client, x.gone)
	}
	lease, err := x.Exchange.Run(x.ctx, func(ctx context.Context, l *pool.Lease) error {
		return x.try(ctx, l, out)
	})
	if err != nil {
		x.refusal, _ = err.(*reply.Error)
		if errors.Is(err, http1.ErrChunk) || errors.Is(err, http1.ErrHeadTooLarge) {
			x.refusal = reply.BadRequest(400, "the chunked body is malformed")
		}
		return
	}
	x.lease = lease
	x.result.Proxy = lease.Proxy
	x.result.FirstByte = time.Since(x.began)
	x.Exchange.TargetUp()
	if lease.Probe { // a probe decides at once: its lease does not last as long as a body may
		x.settle(pool.Response)
	}
}

// gone ends everything when the client has left.
func (x *exchange) gone() { x.cancel() }

// outgoing is the request as every proxy gets it.
func (x *exchange) outgoing(header http.Header) *upstream.Request {
	fields := withHost(merge(x.Head.Fields.EndToEnd(nil, x.Framing), header), x.Host)
	out := &upstream.Request{
		Method: x.Head.Method, Absolute: absoluteForm(x.Head.Target), Origin: x.Origin,
		Authority: x.Exchange.Target, Fields: fields, Framing: x.Framing, Held: x.held,
		Upgrade: x.Head.Upgrade(), Source: clientBody{x}, Interim: x.interim,
	}
	if x.held == nil {
		out.Body = &x.body
	}
	return out
}

// clientBody lets a pump that waits for the client be stopped.
type clientBody struct{ x *exchange }

// Interrupt implements upstream.BodySource.
func (c clientBody) Interrupt() { _ = c.x.Client.SetReadDeadline(time.Unix(1, 0)) }

// try is one attempt.
func (x *exchange) try(ctx context.Context, l *pool.Lease, out *upstream.Request) error {
	resp, err := x.handler.transports.For(l.Proxy).RoundTrip(ctx, x.ctx, out)
	if err == nil {
		err = x.judge(resp, l)
	}
	if err == nil {
		x.resp = resp
		return nil
	}
	var e *upstream.Error
	if errors.As(err, &e) && e.Sent && !out.Repeatable() {
		return &attempts.Final{Err: err}
	}
	return err
}

// judge tells a response of the target from one that the proxy made up.
func (x *exchange) judge(resp *upstream.Response, l *pool.Lease) error {
	signal, rest := upstream.PlainSignal(&resp.Response, l.Proxy.Spec, time.Now())
	if signal == pool.Response {
		return nil
	}
	resp.Close()
	return &upstream.Error{Signal: signal, Status: resp.Status, RetryAfter: rest, Sent: true}
}

// settle gives the verdict on the proxy once.
func (x *exchange) settle(s pool.Signal) {
	if x.settled || x.lease == nil {
		return
	}
	x.settled = true
	if s == pool.Response {
		x.Exchange.Reached(x.lease, s)
		return
	}
	x.Exchange.Fail(x.lease, pool.Fault{Signal: s})
}
