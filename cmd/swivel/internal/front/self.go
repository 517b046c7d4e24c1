package front

import (
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"swivel/cmd/swivel/internal/reply"
	"swivel/cmd/swivel/internal/targets"
)

// Self is the set of addresses on which this process itself listens: no
// request may come back to them through a proxy, and no proxy may be one.
type Self []netip.AddrPort

// Holds says whether host:port is one of our own listeners, by its literal
// address or as localhost. Names are not looked up: their answer is the
// upstream's, not ours.
func (s Self) Holds(authority string) bool {
	host, port, err := net.SplitHostPort(authority)
	if err != nil {
		return false
	}
	n, _ := strconv.ParseUint(port, 10, 16)
	for _, own := range s {
		if own.Port() == uint16(n) && sameHost(host, own.Addr().Unmap()) {
			return true
		}
	}
	return false
}

func sameHost(host string, own netip.Addr) bool {
	host = targets.Fold(host)
	if isLocalName(host) && (own.IsLoopback() || own.IsUnspecified()) {
		return true
	}
	var room [2]netip.Addr
	for _, addr := range targets.AppendAddresses(room[:0], host) {
		if addr == own || (own.IsUnspecified() || addr.IsUnspecified()) && (addr.IsLoopback() || addr.IsUnspecified() || isLocalAddr(addr)) {
			return true
		}
	}
	return false
}

// isLocalName knows the loopback names and this machine's own, which its hosts
// file as a rule gives a loopback address.
func isLocalName(host string) bool {
	if targets.IsLoopbackName(host) {
		return true
	}
	own, err := os.Hostname()
	return err == nil && strings.EqualFold(host, own)
}

// isLocalAddr says whether addr is one of this machine's.
func isLocalAddr(addr netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap() == addr {
			return true
		}
	}
	return false
}

// check refuses targets that lead back to this process, and those that clients
// may not have.
func (c *client) check(authority string) *reply.Error {
	return Refusal(c.front.Self, c.front.Targets, authority)
}

// Refusal is what is said of a target (host:port) that is this process itself, or
// that clients may not have; nil for all others.
func Refusal(self Self, rules *targets.Rules, authority string) *reply.Error {
	switch {
	case self.Holds(authority):
		return reply.Loop("the target is swivel itself")
	case !rules.Allow(authority):
		return reply.TargetDenied("this target is not allowed here")
	}
	return nil
}
