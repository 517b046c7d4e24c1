package tryout

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"swivel/pool"
	"swivel/pool/route"
	"swivel/pool/upstream"
	"swivel/pool/upstream/http1"
)

// Target is what proxies are tried against. The zero value is none; see
// ParseTarget.
type Target struct {
	address string   // host:port
	url     *url.URL // nil: it is enough that a tunnel opens
}

// ParseTarget reads host:port, or an http or https URL. What an https URL answers
// does not matter, as long as it is the target that answers; from an http URL it
// is to be no error. The answer is looked through for the address that the proxy
// leaves from.
func ParseTarget(text string) (Target, error) {
	address, err := route.Target(text)
	if err != nil {
		return Target{}, err
	}
	if !strings.Contains(text, "://") {
		return Target{address: address}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return Target{}, errors.New("want host:port, or an http or https URL")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.Fragment = ""
	return Target{address: address, url: u}, nil
}

// maxBody is how much of a response is looked through; what tells an address is
// short.
const maxBody = 4 << 10

// Address is the target as exchanges name it, host:port.
func (t Target) Address() string { return t.address }

// IsURL says whether there is something to ask for.
func (t Target) IsURL() bool { return t.url != nil }

// Answer is what came from the target.
type Answer struct {
	Status    int           // 0: nothing was asked
	FirstByte time.Duration // until the target sent something, or the tunnel to it was open
	Head      time.Duration // until the head of the response was there
	body      []byte        // the beginning
}

// reach reaches the target through the proxy, as far as it says. Nothing proves
// that the answer to an http URL is the target's: an error may be any server's,
// which is no proxy at all, so it does not count.
func (t Target) reach(ctx context.Context, d *upstream.Dialer, p *pool.Spec, roots *x509.CertPool) finding {
	left := time.Minute
	if end, ok := ctx.Deadline(); ok {
		left = time.Until(end)
	}
	answer, err := t.Ask(ctx, d, p, roots, left)
	if err == nil && t.url != nil && t.url.Scheme == "http" && answer.Status >= 400 {
		err = &upstream.Error{Signal: pool.HandshakeRejected, Err: fmt.Errorf("the answer is %d, whoever's it is", answer.Status)}
	}
	if err != nil {
		return finding{err: err}
	}
	return finding{latency: answer.Head, exit: exitIP(answer.body)}
}

// Ask asks the target through the proxy. patience is how long the answer may take
// once the proxy has been reached, roots what an https target is verified by, nil
// for the system's. The error is an *upstream.Error, except where somebody who is
// not the target answers in an open tunnel.
func (t Target) Ask(ctx context.Context, d *upstream.Dialer, p *pool.Spec, roots *x509.CertPool, patience time.Duration) (Answer, error) {
	began := time.Now()
	if t.url != nil && t.url.Scheme == "http" {
		return t.plain(ctx, d, p, patience, began)
	}
	conn, err := d.Tunnel(ctx, p, t.address, 0)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = conn.Close() }()
	if opened := time.Since(began); t.url == nil {
		return Answer{FirstByte: opened, Head: opened}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	return t.secure(ctx, conn, roots, began)
}

// secure asks an https target through an open tunnel. A proxy that says 200 to
// CONNECT and then hangs up, or answers in the target's place, is found out here.
func (t Target) secure(ctx context.Context, conn *upstream.Conn, roots *x509.CertPool, began time.Time) (Answer, error) {
	inner := whole(conn)
	secure := tls.Client(inner, &tls.Config{ServerName: t.url.Hostname(), RootCAs: roots, NextProtos: []string{"http/1.1"}})
	if err := secure.HandshakeContext(ctx); err != nil {
		return Answer{}, tunnelError(ctx, err)
	}
	transport := &http.Transport{
		DialTLSContext:    func(context.Context, string, string) (net.Conn, error) { return secure, nil },
		DisableKeepAlives: true, DisableCompression: true,
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.url.String(), nil)
	if err != nil {
		return Answer{}, err
	}
	request.Header.Set("User-Agent", userAgent)
	response, err := transport.RoundTrip(request)
	if err != nil {
		return Answer{}, tunnelError(ctx, err)
	}
	defer func() { _ = response.Body.Close() }()
	a := Answer{Status: response.StatusCode, FirstByte: inner.heard.Sub(began), Head: time.Since(began)}
	a.body, err = io.ReadAll(io.LimitReader(response.Body, maxBody))
	// Many servers end TLS without saying so, and a body without a length with it.
	if told := response.ContentLength >= 0 || len(response.TransferEncoding) > 0; err != nil && told && ctx.Err() == nil {
		return Answer{}, cutShort(err)
	}
	return a, nil
}

// userAgent does not pretend to be a browser.
const userAgent = "swivel"

// tunnelError says what is wrong with a tunnel that was open.
func tunnelError(ctx context.Context, err error) error {
	var bad *tls.CertificateVerificationError
	var header tls.RecordHeaderError
	switch {
	case ctx.Err() != nil:
		return &upstream.Error{Signal: pool.TunnelSilent, Err: errors.New("the tunnel opened, and then nothing came")}
	case errors.As(err, &bad):
		return fmt.Errorf("wrong certificate: somebody answers in the target's place, or SSL_CERT_FILE does not name its authority: %w", bad.Err)
	case errors.As(err, &header):
		return errors.New("no TLS: what comes through the tunnel is something else")
	}
	return &upstream.Error{Signal: pool.TunnelClosed, Err: errors.New("the tunnel opened, and then was closed")}
}

// plain asks an http target: a SOCKS proxy through a tunnel, others in absolute
// form. An answer with a proxy's mark is not the target's.
func (t Target) plain(ctx context.Context, d *upstream.Dialer, p *pool.Spec, patience time.Duration, began time.Time) (Answer, error) {
	transport := upstream.NewTransport(d, p, patience)
	defer transport.Close()
	response, err := transport.RoundTrip(ctx, ctx, p, &upstream.Request{
		Method: http.MethodGet, Absolute: t.url.String(), Origin: t.url.RequestURI(), Authority: t.address,
		Fields: http1.Fields{{Name: "Host", Value: t.url.Host}, {Name: "User-Agent", Value: userAgent}, {Name: "Accept", Value: "*/*"}},
	})
	if err != nil {
		return Answer{}, err
	}
	defer response.Close()
	if signal, after := response.Signal(time.Now()); signal != pool.Response {
		return Answer{}, &upstream.Error{Signal: signal, RetryAfter: after, Err: fmt.Errorf("the proxy answered %d", response.Status)}
	}
	reading, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer context.AfterFunc(reading, response.Abort)()
	a := Answer{Status: response.Status, FirstByte: time.Since(began), Head: time.Since(began)}
	a.body, err = io.ReadAll(io.LimitReader(&response.Body, maxBody))
	if err != nil && reading.Err() == nil {
		return Answer{}, cutShort(err)
	}
	return a, nil
}

// cutShort is what a body is that ends early. One that takes too long is not: what
// has come of it will do.
func cutShort(err error) error {
	return &upstream.Error{Signal: upstream.BodyError(err), Err: errors.New("the answer was cut short")}
}

// exitIP finds the first address in a short text or JSON, as the services have it
// that tell callers theirs.
func exitIP(body []byte) netip.Addr {
	if len(body) == maxBody || bytes.Contains(bytes.ToLower(body), []byte("<html")) {
		return netip.Addr{}
	}
	for word := range strings.FieldsFuncSeq(string(body), func(c rune) bool { return strings.ContainsRune(" \t\r\n\"',{}[]()<>=", c) }) {
		if ip, err := netip.ParseAddr(word); err == nil && ip.Zone() == "" {
			return ip
		}
	}
	return netip.Addr{}
}

// whole is the connection with what came early in front.
func whole(c *upstream.Conn) *inner {
	return &inner{Conn: c.Conn, r: io.MultiReader(bytes.NewReader(c.Early), c.Conn)}
}

// inner is what is inside a tunnel.
type inner struct {
	net.Conn
	r     io.Reader
	heard time.Time // when the first bytes came
}

func (i *inner) Read(p []byte) (int, error) {
	n, err := i.r.Read(p)
	if n > 0 && i.heard.IsZero() {
		i.heard = time.Now()
	}
	return n, err
}
