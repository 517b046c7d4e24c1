package targets

import "net/netip"

// embeddings are the networks of IPv6 whose addresses stand for one of IPv4, and at
// which byte that begins.
var embeddings = [...]struct {
	netip.Prefix
	at int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // translated, RFC 6052 section 2.1
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},  // translated, RFC 8215
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // IPv4-translated, RFC 2765 section 2.1
	{netip.MustParsePrefix("::/96"), 12},           // IPv4-compatible, RFC 4291 section 2.5.5.1
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4, RFC 3056 section 2
}

// localUse is where every network may choose how translators find the address of
// IPv4 (RFC 8215), and localForms at which bytes it is then, with prefixes of 48, 56
// and 64 bits (RFC 6052 section 2.2).
var (
	localUse   = netip.MustParsePrefix("64:ff9b:1::/48")
	localForms = [...][4]int{{6, 7, 9, 10}, {7, 9, 10, 11}, {9, 10, 11, 12}}
)

// appendEmbedded appends what addr stands for besides itself. :: and ::1 stand for
// nothing else.
func appendEmbedded(all []netip.Addr, addr netip.Addr) []netip.Addr {
	if !addr.Is6() || addr.IsUnspecified() || addr.IsLoopback() {
		return all
	}
	b := addr.As16()
	for _, e := range embeddings {
		if e.Contains(addr) {
			all = append(all, netip.AddrFrom4([4]byte(b[e.at:])))
		}
	}
	if !localUse.Contains(addr) {
		return all
	}
	for _, form := range localForms {
		if v4 := [4]byte{b[form[0]], b[form[1]], b[form[2]], b[form[3]]}; b[8] == 0 && [3]byte(b[13:]) == [3]byte{} && v4 != [4]byte{} {
			all = append(all, netip.AddrFrom4(v4))
		}
	}
	return all
}
