// Package targets says which targets clients may have. The rules are written as
// people write hosts, and meet a target however it is spelt.
//
//	rules, err := targets.Parse(nil, []string{".example.org", "10.0.0.0/8", ":25"})
//	...
//	rules.Allow("www.EXAMPLE.org.:443") // false
//
// Names are not looked up here: what address one has is known to the proxy only,
// so a rule for addresses does not meet it.
package targets

import (
	"net"
	"net/netip"
	"strconv"
)

// Rules are two lists. What is denied is not allowed; if anything is on the
// list of what is allowed, nothing else is. The zero value and nil allow
// everything. Rules do not change, and are safe for concurrent use.
type Rules struct {
	allow, deny list
}

// list is the entries of one list.
type list struct {
	names map[string][]ports // by a name, or by .name for all below it and itself
	nets  []network
	any   []ports // whatever the host
}

type network struct {
	netip.Prefix
	ports
}

// ports is a range of them.
type ports struct{ first, last uint16 }

func (p ports) hold(port uint16) bool { return p.first <= port && port <= p.last }

// Empty says that everything is allowed.
func (r *Rules) Empty() bool { return r == nil || r.allow.empty() && r.deny.empty() }

// Allow says whether a client may have the target, which is host:port.
func (r *Rules) Allow(authority string) bool {
	if r.Empty() {
		return true
	}
	host, text, err := net.SplitHostPort(authority)
	port, bad := strconv.ParseUint(text, 10, 16)
	if err != nil || bad != nil {
		return false
	}
	var room [4]netip.Addr
	name := Fold(host)
	addrs := appendReached(AppendAddresses(room[:0], name))
	return !r.deny.meets(name, addrs, uint16(port)) && r.allows(name, addrs, uint16(port))
}

// allows looks at the list of what is allowed. All that a spelling may mean has
// to be there, unless the name is.
func (r *Rules) allows(name string, addrs []netip.Addr, port uint16) bool {
	return r.allow.empty() || r.allow.hasName(name, port) || len(addrs) > 0 && r.allow.count(addrs, port) == len(addrs)
}

// Denies says whether the address must not be connected to, where its name was
// found to be allowed and has been looked up here.
func (r *Rules) Denies(at netip.AddrPort) bool {
	addr := at.Addr().Unmap().WithZone("")
	return !r.Empty() && r.deny.meets("", appendReached(appendEmbedded([]netip.Addr{addr}, addr)), at.Port())
}

func (l *list) empty() bool { return len(l.names) == 0 && len(l.nets) == 0 && len(l.any) == 0 }

// meets says whether an entry names the host, or holds one of its addresses.
func (l *list) meets(name string, addrs []netip.Addr, port uint16) bool {
	return l.hasName(name, port) || l.count(addrs, port) > 0
}

// hasName says whether an entry names the host, or one above it.
func (l *list) hasName(name string, port uint16) bool {
	if oneHolds(l.any, port) || oneHolds(l.names[name], port) {
		return true
	}
	if len(l.names) == 0 {
		return false
	}
	dotted := "." + name
	for i := range dotted {
		if dotted[i] == '.' && oneHolds(l.names[dotted[i:]], port) {
			return true
		}
	}
	return false
}

// count is how many of the addresses an entry holds.
func (l *list) count(addrs []netip.Addr, port uint16) (n int) {
	for _, addr := range addrs {
		for _, one := range l.nets {
			if one.hold(port) && one.Contains(addr) {
				n++
				break
			}
		}
	}
	return n
}

func oneHolds(all []ports, port uint16) bool {
	for _, p := range all {
		if p.hold(port) {
			return true
		}
	}
	return false
}
