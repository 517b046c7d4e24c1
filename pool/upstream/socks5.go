package upstream

import (
	"context"
	"errors"
	"net"

	"golang.org/x/net/proxy"

	"swivel/pool"
)

// fitsSOCKS5 says, before the proxy is bothered, what SOCKS5 cannot carry: the
// length of a name is one byte, and so are those of user and password. Lists are
// held against that when they are read; a template can become too long for what
// one client asks for, which is no fault of the proxy.
func fitsSOCKS5(p *pool.Spec, t target) error {
	switch {
	case len(t.host) > 255:
		return &Error{Signal: pool.HandshakeUnsupported, Err: errors.New("the name is too long for SOCKS")}
	case len(p.User) > 255 || len(p.Password.Reveal()) > 255:
		return &Error{Signal: pool.HandshakeUnsupported, Err: errors.New("the credentials are too long for SOCKS5")}
	}
	return nil
}

// socks5 asks a SOCKS5 proxy for the tunnel. The protocol is x/net's, which
// sends names as names and reads not a byte beyond the reply; what the proxy
// said is told by the watch, as x/net's errors are texts.
func socks5(ph *phase, conn net.Conn, p *pool.Spec, t target) error {
	var auth *proxy.Auth
	if p.HasAuth {
		auth = &proxy.Auth{User: "-"} // the watch knows the real ones
	}
	watch := &socks5Watch{Conn: conn, proxy: p}
	// The address would only appear in error texts that nobody sees.
	dialer, err := proxy.SOCKS5("tcp", "", auth, opened{watch})
	if err != nil {
		return &Error{Signal: pool.LocalFault, Err: err}
	}
	// Without a context, since x/net would start a goroutine to watch it: the
	// phase ends a stalled handshake.
	if _, err := dialer.Dial("tcp", t.text); err != nil {
		return watch.verdict(ph)
	}
	return nil
}

// opened is a "dialer" that hands out a connection that is already open. It
// has DialContext because x/net starts a goroutine for dialers without.
type opened struct{ conn net.Conn }

func (o opened) Dial(string, string) (net.Conn, error) { return o.conn, nil }

func (o opened) DialContext(context.Context, string, string) (net.Conn, error) { return o.conn, nil }
