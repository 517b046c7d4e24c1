// Package upstream opens connections through the proxies of a pool: HTTP and
// HTTPS proxies by CONNECT, SOCKS4/4a and SOCKS5 by their own handshakes.
//
// It exists apart from the pool because its hard part is not dialling but
// saying what went wrong. A proxy must be blamed for what it did and for
// nothing else: a full descriptor table, a client that hung up and a target
// that is down all look like "connection failed" to a careless dialer. So
// every error is an *Error whose Signal names what the attempt ran into, taken
// from error numbers, reply codes and clocks, never from the text of an error.
//
// A Dialer is safe for concurrent use and shares nothing between proxies but
// resolved names and parsed CA files. It never resolves the name of a target
// and never connects to anything but a proxy. A Conn belongs to its caller and
// comes with no deadline set.
//
//	d := upstream.NewDialer(upstream.Timeouts{})
//	conn, err := d.Tunnel(ctx, spec, "example.com:443")
//	if err != nil {
//		signal := upstream.SignalOf(err)
//		...
//	}
//	// conn.Early came first, the rest is read from conn.Conn.
package upstream
