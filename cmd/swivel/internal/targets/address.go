package targets

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Fold writes a host as everybody reads it: in lower case, without dots at its
// end, without the brackets of IPv6, and in ASCII. What a proxy's resolver
// might make of other characters, such as wide digits or the full stop of
// Chinese, is made of them here too.
func Fold(host string) string {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if !isASCII(host) {
		if mapped, err := mapping.ToASCII(host); err == nil {
			host = mapped
		}
	}
	return strings.TrimRight(strings.ToLower(host), ".")
}

// mapping is that of UTS 46, as browsers do it, without the rules for what may
// be registered.
var mapping = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false), idna.CheckJoiners(false))

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// IsLoopbackName says whether a folded host is a name of the machine on which it is
// looked up: localhost (RFC 6761 section 6.3), or one that Debian and Red Hat write
// into the hosts file of every machine.
func IsLoopbackName(host string) bool {
	switch host {
	case "localhost", "ip6-localhost", "ip6-loopback", "localhost4", "localhost6",
		"localhost.localdomain", "localhost4.localdomain4", "localhost6.localdomain6":
		return true
	}
	return strings.HasSuffix(host, ".localhost")
}

// AppendAddresses appends every address that a folded host is a spelling of;
// none if it is a name. Resolvers take 127.1, 2130706433 and 0x7f.0.0.1 for
// 127.0.0.1. They disagree about 010.0.0.1, which is 8.0.0.1 or 10.0.0.1, so it
// is both here. A loopback name is 127.0.0.1 and ::1. An IPv6 address that stands for
// one of IPv4 to a translator or a tunnel is both too. Zones are no part of them.
func AppendAddresses(all []netip.Addr, host string) []netip.Addr {
	if IsLoopbackName(host) {
		return append(all, netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback())
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		addr = addr.WithZone("")
		return appendEmbedded(append(all, addr.Unmap()), addr)
	}
	if host == "" || !strings.ContainsRune("0123456789", rune(host[0])) {
		return all
	}
	first, ok := numbers(host, 0)
	if ok {
		all = append(all, first)
	}
	if second, also := numbers(host, 10); also && !(ok && second == first) {
		all = append(all, second)
	}
	return all
}

// appendReached appends the addresses that are reached by way of those there are
// already: who connects to no address in particular gets to this machine.
func appendReached(all []netip.Addr) []netip.Addr {
	for _, addr := range all {
		switch {
		case !addr.IsUnspecified():
		case addr.Is4():
			all = append(all, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
		default:
			all = append(all, netip.IPv6Loopback())
		}
	}
	return all
}

// numbers reads up to four numbers between dots, of which the last one fills what
// is left of the address. The base is 10, or 0 for one that the number tells.
func numbers(host string, base int) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var ip uint64
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		n, err := strconv.ParseUint(part, base, bits)
		if err != nil || strings.ContainsRune(part, '_') || strings.HasPrefix(part, "0b") || strings.HasPrefix(part, "0o") {
			return netip.Addr{}, false // numbers to Go only
		}
		ip = ip<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}), true
}
