package daemon

import (
	"errors"
	"net"
	"net/netip"
	"slices"

	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/front"
	"swivel/pool"
)

var errOnlySelf = errors.New("proxies: the only proxies listed are swivel itself")

// DropSelf takes the proxies out that a daemon of this configuration would be
// itself, as its start does, and returns them. It is an error if no other is left.
func (l *Lists) DropSelf(c config.Config) (dropped []*pool.Spec, err error) {
	if l.Specs, dropped = withoutSelf(l.Specs, selfOf(c)); len(l.Specs) == 0 && len(dropped) > 0 {
		err = errOnlySelf
	}
	return dropped, err
}

// selfOf is where a daemon of this configuration listens, as far as that is known
// before it does.
func selfOf(c config.Config) (self front.Self) {
	for _, address := range []string{c.Listen, c.Admin} {
		addr, err := net.ResolveTCPAddr("tcp", address)
		if err != nil || addr.Port == 0 { // off, or a port of the system's choice
			continue
		}
		ip, _ := netip.AddrFromSlice(addr.IP)
		if !ip.IsValid() { // a port alone
			ip = netip.IPv6Unspecified()
		}
		self = append(self, netip.AddrPortFrom(ip.Unmap(), uint16(addr.Port)))
	}
	return self
}

// withoutSelf drops proxies that are this process's own listeners: a request
// sent there would come back for ever.
func withoutSelf(specs []*pool.Spec, self front.Self) (kept, dropped []*pool.Spec) {
	kept = specs[:0]
	for i := range specs {
		samePort := func(at netip.AddrPort) bool { return at.Port() == specs[i].Port }
		if slices.ContainsFunc(self, samePort) && self.Holds(specs[i].Address()) {
			dropped = append(dropped, specs[i])
			continue
		}
		kept = append(kept, specs[i])
	}
	return kept, dropped
}
