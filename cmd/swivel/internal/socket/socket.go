// Package socket opens the sockets that swivel listens on, so that each is reached
// under the addresses that were asked for and no others, and ends their connections
// so that the last answer is not lost.
package socket

import (
	"context"
	"net"
	"net/netip"
)

// Listen listens on host:port. An IPv4 address takes IPv4 alone: of 0.0.0.0 package
// net makes a socket that IPv6 comes in by too, past rules of a firewall that are
// for IPv4. Of [::], and of a port alone, the system says whether it is for both.
func Listen(ctx context.Context, lc *net.ListenConfig, address string) (*net.TCPListener, error) {
	ln, err := lc.Listen(ctx, network(address), address)
	if err != nil {
		return nil, err
	}
	return ln.(*net.TCPListener), nil
}

func network(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return "tcp" // which says what is wrong
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() {
		return "tcp4"
	}
	return "tcp"
}
