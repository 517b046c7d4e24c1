package upstream

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"swivel/pool"
)

// Timeouts bound the phases of an attempt.
type Timeouts struct {
	// Dial bounds finding the proxy's address and connecting to it; 0 is 5 s.
	Dial time.Duration
	// Handshake bounds what is spoken before the connection is of use: TLS to
	// an https proxy together with CONNECT or SOCKS; 0 is 10 s.
	Handshake time.Duration
}

// The defaults: a connection takes one round trip, so 5 s is two lost packets
// already; the answer to CONNECT waits for the proxy's own dial to the target.
const (
	defaultDial      = 5 * time.Second
	defaultHandshake = 10 * time.Second
)

// Dialer opens connections through proxies. Use NewDialer; a Dialer is safe
// for concurrent use.
type Dialer struct {
	// Shun says of an address that a target without a proxy must not be at,
	// whatever name it has; nil for none. It is set before the first call.
	Shun func(netip.AddrPort) bool

	timeouts Timeouts
	names    *resolver
	cas      caFiles
}

// NewDialer returns a Dialer that gives each phase the time t says.
func NewDialer(t Timeouts) *Dialer {
	if t.Dial <= 0 {
		t.Dial = defaultDial
	}
	if t.Handshake <= 0 {
		t.Handshake = defaultHandshake
	}
	return &Dialer{
		timeouts: t,
		names:    newResolver(lookupHost, time.Now),
	}
}

// Conn is an open connection and what already arrived on it.
type Conn struct {
	// Conn is the *tcp.Conn, or the *tls.Conn of an https proxy: a
	// wrapper would hide CloseWrite and ReadFrom, and with them half-close
	// and splice.
	net.Conn
	// Early holds the bytes that came behind the handshake, nil if none. They
	// precede everything that is read from Conn.
	Early []byte
}

// handshake asks an open connection for a tunnel and returns the bytes that
// came behind the answer.
type handshake func(ph *phase, conn net.Conn) (early []byte, err error)

// Tunnel opens a byte tunnel to target ("host:port", IPv6 in brackets) through
// the proxy, for a request that has passed so many swivels before. Its error is an
// *Error.
func (d *Dialer) Tunnel(ctx context.Context, p *pool.Spec, target string, hops int) (*Conn, error) {
	t, err := parseTarget(target, hops)
	if err != nil {
		return nil, err
	}
	switch p.Scheme {
	case pool.Direct:
		return d.direct(ctx, t)
	case pool.SOCKS4, pool.SOCKS4A:
		if err := fitsSOCKS4(p, t); err != nil {
			return nil, err
		}
		return d.open(ctx, p, func(ph *phase, conn net.Conn) ([]byte, error) {
			return nil, socks4(ph, conn, p, t)
		})
	case pool.SOCKS5, pool.SOCKS5H:
		if err := fitsSOCKS5(p, t); err != nil {
			return nil, err
		}
		return d.open(ctx, p, func(ph *phase, conn net.Conn) ([]byte, error) {
			return nil, socks5(ph, conn, p, t)
		})
	}
	return d.open(ctx, p, func(ph *phase, conn net.Conn) ([]byte, error) {
		return httpConnect(ph, conn, p, t)
	})
}

// Hop connects to the proxy itself, with TLS to an https proxy, for requests
// in absolute form. Its error is an *Error.
func (d *Dialer) Hop(ctx context.Context, p *pool.Spec) (*Conn, error) {
	if p.Scheme != pool.HTTP && p.Scheme != pool.HTTPS {
		return nil, &Error{Signal: pool.LocalFault, Err: errors.New("a SOCKS proxy takes no requests in absolute form")}
	}
	return d.open(ctx, p, nil)
}

// open dials and speaks; whatever fails, the connection is closed.
func (d *Dialer) open(ctx context.Context, p *pool.Spec, speak handshake) (*Conn, error) {
	if err := begun(ctx); err != nil {
		return nil, err
	}
	raw, err := d.dial(ctx, p)
	if err != nil {
		return nil, err
	}
	conn, err := d.prepare(ctx, raw, p, speak)
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	return conn, nil
}

// prepare takes a fresh connection through TLS and the handshake, as far as
// the proxy needs them.
func (d *Dialer) prepare(ctx context.Context, raw net.Conn, p *pool.Spec, speak handshake) (*Conn, error) {
	ph := beginPhase(ctx, raw, d.timeouts.Handshake)
	defer ph.hook.Stop()
	conn := &Conn{Conn: raw}
	var err error
	if p.Scheme == pool.HTTPS {
		if conn.Conn, err = d.secure(ph, p); err != nil {
			return nil, err
		}
	}
	if speak != nil {
		if conn.Early, err = speak(ph, conn.Conn); err != nil {
			return nil, err
		}
	}
	if err := ph.end(); err != nil {
		return nil, err
	}
	return conn, nil
}
