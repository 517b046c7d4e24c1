package pool

import (
	"errors"
	"strings"
)

var errProtocol = errors.New("unknown protocol: use http, https, socks4, socks4a, socks5, socks5h or socks")

// protocol is what the record says of how the proxy is spoken to, and whether it
// says anything. A column for one protocol comes before a list of all that the
// proxy speaks, and both before a type, which may be of anything.
func (r *record) protocol() (s Scheme, named bool, err error) {
	switch {
	case r.scheme != "":
		s, named = lookupScheme(r.scheme)
	case len(r.protocols) > 0:
		s, named = bestOf(r.protocols)
	case len(r.types) == 1:
		s, _ = lookupScheme(r.types[0])
		return s, true, nil
	case len(r.types) > 1:
		s, named = bestOf(r.types)
	default:
		return HTTP, false, nil
	}
	if !named {
		return HTTP, false, errProtocol
	}
	return s, true, nil
}

// bestOf picks from what a proxy speaks: SOCKS5 first, which carries everything. In
// such a list https is a proxy that takes CONNECT, to be spoken to as http: those
// that want TLS themselves are not told by it.
func bestOf(names []string) (best Scheme, found bool) {
	for _, name := range names {
		s, known := lookupScheme(name)
		if s = s.canonical(); s == HTTPS {
			s = HTTP
		}
		if known && (!found || s > best) {
			best, found = s, true
		}
	}
	return best, found
}

// protocolsIn are the names in a field: socks4, socks5 or SOCKS4/SOCKS5.
func protocolsIn(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(",;/| \t", c) })
}

// addTypes takes what is a protocol from a field that may be about anything, such
// as elite or residential, and says whether there was one.
func (r *record) addTypes(text string) (found bool) {
	for _, name := range protocolsIn(text) {
		if _, known := lookupScheme(name); known {
			r.types, found = append(r.types, name), true
		}
	}
	return found
}
