package upstream

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/leaktest"
	"swivel/pool/upstream/listentest"
)

// TestErrorsHoldNoCredentials takes a proxy through every kind of failure,
// some of them by a server that sends back what it was sent.
func TestErrorsHoldNoCredentials(t *testing.T) {
	leaktest.Watch(t)
	const user, password, basic = "us3rname", "s3cret", "dXMzcm5hbWU6czNjcmV0"
	mirror := func(prefix string) netip.AddrPort {
		return listen(t, func(c net.Conn) {
			defer c.Close()
			b := make([]byte, 4096)
			n, _ := c.Read(b)
			_, _ = io.WriteString(c, prefix+user+" "+password+" "+string(b[:n])+"\r\n\r\n")
			_, _ = io.Copy(io.Discard, c)
		})
	}
	socks5 := func(reply string) netip.AddrPort {
		return listen(t, func(c net.Conn) {
			defer c.Close()
			_, _ = io.WriteString(c, "\x05\x02"+reply)
			_, _ = io.Copy(io.Discard, c)
		})
	}
	gone := listentest.Reserved(t, "127.0.0.1")
	for _, c := range []struct {
		scheme pool.Scheme
		addr   netip.AddrPort
	}{
		{pool.HTTP, gone},
		{pool.HTTPS, gone},
		{pool.SOCKS4, gone},
		{pool.SOCKS5, gone},
		{pool.HTTP, mirror("")},
		{pool.HTTP, mirror("HTTP/1.1 ")},
		{pool.HTTP, mirror("HTTP/1.1 407 ")},
		{pool.HTTP, mirror("HTTP/1.1 502 ")},
		{pool.HTTP, mirror("HTTP/1.1 100 Continue\r\n\r\n")},
		{pool.HTTPS, mirror("")},
		{pool.SOCKS4, mirror("\x00\x5d")},
		{pool.SOCKS4, mirror("")},
		{pool.SOCKS5, mirror("")},
		{pool.SOCKS5, mirror("\x05\xff")},
		{pool.SOCKS5, socks5("\x01\x01")},
		{pool.SOCKS5, socks5("\x01\x00\x05\x05")},
		{pool.SOCKS5, socks5("\x01\x00\x05\x00\x01")},
	} {
		p := specFor(c.scheme, c.addr, user+":"+password)
		_, err := NewDialer(Timeouts{Handshake: time.Second}).Tunnel(background(t), p, "a.test:80", 0)
		checkSilent(t, c.scheme, err, user, password, basic)
	}
	d := patient()
	d.names.lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	p := &pool.Spec{Host: "proxy.test", Port: 1, User: user, Password: password, HasAuth: true}
	_, err := d.Tunnel(background(t), p, "a.test:80", 0)
	checkSilent(t, p.Scheme, err, user, password, basic)
}

func checkSilent(t *testing.T, scheme pool.Scheme, err error, secrets ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%v: no error", scheme)
		return
	}
	for e := err; e != nil; {
		for _, s := range secrets {
			if strings.Contains(e.Error(), s) {
				t.Errorf("%v: %q tells %s", scheme, e, s)
			}
		}
		wrapped, ok := e.(interface{ Unwrap() error })
		if !ok {
			return
		}
		e = wrapped.Unwrap()
	}
}
