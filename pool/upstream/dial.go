package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/tcp"
)

// dial connects to the proxy, trying its addresses in turn.
func (d *Dialer) dial(ctx context.Context, p *pool.Spec) (*tcp.Conn, error) {
	deadline := time.Now().Add(d.timeouts.Dial)
	addrs, err := d.names.resolve(ctx, p.Host, deadline)
	if err != nil {
		return nil, resolveError(ctx, deadline, err)
	}
	var failed *Error
	for i, ip := range addrs {
		left := time.Until(deadline)
		if left <= 0 {
			break
		}
		// A fair share each: one address that swallows packets must not
		// keep the others from being tried.
		share := time.Now().Add(left / time.Duration(len(addrs)-i))
		at := netip.AddrPortFrom(ip, p.Port)
		if p.Scheme == pool.Direct && d.Shun != nil && d.Shun(at) {
			failed = worse(failed, &Error{Signal: pool.DialRefused, Err: ErrShunned})
			continue
		}
		conn, err := tcp.Dial(ctx, at, share)
		if err == nil {
			return conn, nil
		}
		if failed = worse(failed, dialError(ctx, deadline, ip, err)); failed.Signal == pool.ClientGone {
			break
		}
	}
	if failed == nil {
		return nil, &Error{Signal: pool.DialTimeout, Err: errors.New("its name took all the time to resolve")}
	}
	return nil, failed
}

// ErrShunned is why a target was not connected without a proxy; see Dialer.Shun.
var ErrShunned = errors.New("the target has an address that must not be connected to")

// worse chooses which failure speaks for a proxy with several addresses: the
// first, as it is the address everyone else would use. A local fault is
// reported only if nothing else was seen, since a host without IPv6 has no
// route to the AAAA of any proxy.
func worse(a, b *Error) *Error {
	switch {
	case a == nil, b.Signal == pool.ClientGone, a.Signal == pool.LocalFault:
		return b
	}
	return a
}

func dialError(ctx context.Context, deadline time.Time, ip netip.Addr, err error) *Error {
	if (timedOut(err) || errors.Is(err, context.Canceled)) && gone(ctx, deadline) {
		return clientGone(ctx)
	}
	return &Error{Signal: dialSignal(err), Err: fmt.Errorf("%s: %w", ip, reason(err))}
}

func dialSignal(err error) pool.Signal {
	switch {
	case isLocal(err):
		return pool.LocalFault
	case errors.Is(err, syscall.ECONNREFUSED):
		return pool.DialRefused
	case timedOut(err), errors.Is(err, context.Canceled):
		return pool.DialTimeout
	}
	return pool.DialFailed
}

// isLocal says whether err is the fault of this machine: out of descriptors,
// ports or buffers, or without any route. EHOSTUNREACH is not among them, it
// is a router's answer about that one proxy.
func isLocal(err error) bool {
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return false
	}
	switch errno {
	case syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.EADDRINUSE, syscall.ENETUNREACH, syscall.ENOBUFS, syscall.ENOMEM:
		return true
	}
	return false
}

// resolveError says what it means that a proxy's name has no address. Only a
// name server that stays silent is a timeout; everything else is a name that
// does not resolve, and error numbers inside speak of the name server, not of
// the proxy.
func resolveError(ctx context.Context, deadline time.Time, err error) *Error {
	switch {
	case errors.Is(err, context.Canceled) || timedOut(err):
		if gone(ctx, deadline) {
			return clientGone(ctx)
		}
		return &Error{Signal: pool.DialTimeout, Err: err}
	case isLocal(err):
		return &Error{Signal: pool.LocalFault, Err: err}
	}
	return &Error{Signal: pool.DialNoName, Err: err}
}
