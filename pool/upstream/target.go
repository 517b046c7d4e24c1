package upstream

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"swivel/pool"
)

// target is where a tunnel leads, in the client's words. The name is never
// resolved here: which address it has is for the proxy to find out, at its end
// of the world.
type target struct {
	text string // "host:port" as it goes into CONNECT
	host string // without brackets
	port uint16
	hops int // see Hops
}

// errTarget means that a caller let something through that the wire formats
// cannot carry: our fault, not that of a proxy.
var errTarget = errors.New("the target is not host:port")

func parseTarget(text string, hops int) (target, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || !plain(host) {
		return target{}, &Error{Signal: pool.LocalFault, Err: errTarget}
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return target{}, &Error{Signal: pool.LocalFault, Err: errTarget}
	}
	if text[0] == '[' && !isIPv6(host) {
		return target{}, &Error{Signal: pool.LocalFault, Err: errTarget}
	}
	return target{text: text, host: host, port: uint16(n), hops: hops}, nil
}

// plain refuses the bytes that would end a line, a word or a SOCKS4 string,
// and the zone of an IPv6 address, which means nothing on another machine.
func plain(host string) bool {
	return !strings.ContainsFunc(host, func(c rune) bool { return c <= ' ' || c == 0x7f || c == '%' })
}

func isIPv6(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Is6()
}
