package upstream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"

	"swivel/pool"
)

// The bytes of SOCKS4 and its extension 4a, which has no RFC.
const (
	socks4Version  = 4
	socks4Connect  = 1
	socks4Granted  = 0x5a
	socks4Rejected = 0x5b // or failed: the protocol does not tell
	socks4NoIdentd = 0x5c
	socks4BadUser  = 0x5d
)

// fitsSOCKS4 says, before the proxy is bothered, what SOCKS4 cannot carry. A
// NUL ends the user id on the wire: what is behind it would be read as the
// target's name.
func fitsSOCKS4(p *pool.Spec, t target) error {
	ip, err := netip.ParseAddr(t.host)
	switch {
	case err == nil && !ip.Unmap().Is4():
		return &Error{Signal: pool.HandshakeUnsupported, Err: errors.New("SOCKS4 has no IPv6 addresses")}
	case len(t.host) > 255:
		return &Error{Signal: pool.HandshakeUnsupported, Err: errors.New("the name is too long for SOCKS")}
	case strings.IndexByte(p.User, 0) >= 0:
		return &Error{Signal: pool.HandshakeAuth, Err: errors.New("a SOCKS4 user id holds no NUL")}
	}
	return nil
}

// socks4 asks a SOCKS4 proxy for the tunnel. It reads not a byte beyond the
// reply.
func socks4(ph *phase, conn net.Conn, p *pool.Spec, t target) error {
	if _, err := conn.Write(socks4Request(p, t)); err != nil {
		return ph.fail(err, pool.HandshakeTimeout, pool.HandshakeClosed)
	}
	// The verdict is in the first two bytes. To wait for all eight would take
	// the two-byte answer of a SOCKS5 server for silence.
	var reply [8]byte
	if _, err := io.ReadFull(conn, reply[:2]); err != nil {
		return ph.fail(err, pool.HandshakeTimeout, pool.HandshakeClosed)
	}
	if err := socks4Verdict(reply[0], reply[1]); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, reply[2:]); err != nil {
		return ph.fail(err, pool.HandshakeTimeout, pool.HandshakeClosed)
	}
	return nil
}

// socks4Request sends names as SOCKS4a does, under either scheme: to resolve
// them here would tell our resolver what the client visits.
func socks4Request(p *pool.Spec, t target) []byte {
	b := append(make([]byte, 0, 128), socks4Version, socks4Connect)
	b = binary.BigEndian.AppendUint16(b, t.port)
	ip, err := netip.ParseAddr(t.host)
	if err == nil && !socks4Marker(ip) {
		v4 := ip.Unmap().As4()
		b = append(b, v4[:]...)
		b = append(b, p.User...)
		return append(b, 0)
	}
	b = append(b, 0, 0, 0, 1)
	b = append(b, p.User...)
	b = append(b, 0)
	b = append(b, t.host...)
	return append(b, 0)
}

// socks4Marker says whether an address would be read as "a name follows".
func socks4Marker(ip netip.Addr) bool {
	v4 := ip.Unmap().As4()
	return v4[0] == 0 && v4[1] == 0 && v4[2] == 0 && v4[3] != 0
}

// socks4Verdict reads the start of a reply. Its version must be 0, but there
// are servers that put the protocol's 4 there; they mean the same.
func socks4Verdict(version, code byte) error {
	signal := pool.HandshakeGarbage
	switch {
	case version != 0 && version != socks4Version:
		return &Error{Signal: signal, Err: errors.New("the reply is not SOCKS4")}
	case code == socks4Granted:
		return nil
	case code == socks4Rejected:
		signal = pool.HandshakeFailed
	case code == socks4NoIdentd, code == socks4BadUser:
		signal = pool.HandshakeAuth
	}
	return &Error{Signal: signal, Status: int(code), Err: fmt.Errorf("SOCKS4 code %#02x", code)}
}
