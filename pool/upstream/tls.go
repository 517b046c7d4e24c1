package upstream

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net"

	"swivel/pool"
)

// secure does TLS with an https proxy. Waiting in vain is DialTimeout, as it
// would have been a moment earlier in the connect.
func (d *Dialer) secure(ph *phase, p *pool.Spec) (net.Conn, error) {
	cfg, err := d.tlsConfig(p)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(ph.conn, cfg)
	// The phase ends a stalled handshake, a context here would cost a
	// goroutine.
	if err := conn.Handshake(); err != nil {
		return nil, ph.fail(fmt.Errorf("TLS to the proxy: %w", reason(err)), pool.DialTimeout, pool.DialTLS)
	}
	return conn, nil
}

// tlsConfig offers http/1.1 only: a proxy that may choose h2 will, and then
// gets bytes it does not understand. There is no session cache, a ticket would
// tie together exits that have nothing to do with each other.
func (d *Dialer) tlsConfig(p *pool.Spec) (*tls.Config, error) {
	cfg := &tls.Config{
		ServerName:             cmp.Or(p.SNI, p.Host),
		NextProtos:             []string{"http/1.1"},
		InsecureSkipVerify:     p.Insecure,
		SessionTicketsDisabled: true,
		MinVersion:             tls.VersionTLS12,
	}
	if p.CA == "" || p.Insecure {
		return cfg, nil
	}
	roots, err := d.cas.load(p.CA)
	if err != nil { // it was fine when the list was read
		return nil, &Error{Signal: pool.LocalFault, Err: err}
	}
	cfg.RootCAs = roots
	return cfg, nil
}
