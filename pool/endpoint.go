package pool

import (
	"errors"
	"net/netip"
	"strings"
)

// The faults of a host and port. None quotes its input: in a broken line
// nobody can tell a host from a password.
var (
	errHost = errors.New("the host is neither a name nor an IP address")
	errIDN  = errors.New("the host has letters beyond ASCII: write a name in Punycode, as in xn--bcher-kva.example, and delete what cannot be seen")
	errIPv6 = errors.New("an IPv6 address without brackets is ambiguous: write [::1]:7001")
	errPath = errors.New("a path, query or fragment has no place in a proxy's address")

	errNoPort = errors.New("the address has no port")
)

// endpoint is where a proxy, or a row of them, listens.
type endpoint struct {
	host        string
	first, last uint16 // ports, both included
	explicit    bool   // the port was written, not the scheme's default
}

// parseEndpoint reads host:port, [v6]:port and either with a range of ports.
// Without a port it takes fallback, unless that is 0.
func parseEndpoint(text string, fallback uint16) (endpoint, error) {
	if strings.ContainsAny(text, "/?#") {
		return endpoint{}, errPath
	}
	host, port, explicit, err := splitPort(text)
	if err != nil {
		return endpoint{}, err
	}
	if !explicit && fallback == 0 {
		return endpoint{}, errNoPort
	}
	e := endpoint{first: fallback, last: fallback, explicit: explicit}
	if e.host, err = parseHost(host); err != nil {
		return endpoint{}, err
	}
	if explicit {
		e.first, e.last, err = parsePorts(port)
	}
	return e, err
}

// splitPort separates the port, if there is one, and leaves an IPv6 host its
// brackets.
func splitPort(text string) (host, port string, found bool, err error) {
	if strings.HasPrefix(text, "[") {
		end := strings.IndexByte(text, ']') + 1
		if end == 0 || end < len(text) && text[end] != ':' {
			return "", "", false, errHost
		}
		if end == len(text) {
			return text, "", false, nil
		}
		return text[:end], text[end+1:], true, nil
	}
	host, port, found = strings.Cut(text, ":")
	if strings.IndexByte(port, ':') >= 0 {
		if bareIPv6(text) {
			return "", "", false, errIPv6
		}
		return "", "", false, errForm
	}
	return host, port, found, nil
}

// bareIPv6 reports whether text is an IPv6 address without brackets, with or
// without a port behind it.
func bareIPv6(text string) bool {
	_, err := netip.ParseAddr(text)
	if err != nil {
		_, err = netip.ParseAddr(text[:max(strings.LastIndexByte(text, ':'), 0)])
	}
	return err == nil && strings.Count(text, ":") > 1
}

// parseHost returns a name or IP address in its canonical spelling: lower case,
// no brackets, no trailing dot. Zones are refused, since they name an interface
// of one machine.
func parseHost(text string) (string, error) {
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		addr, err := netip.ParseAddr(text[1 : len(text)-1])
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", errHost
		}
		return addr.String(), nil
	}
	if !isASCII(text) {
		return "", errIDN
	}
	name := strings.TrimSuffix(text, ".")
	last, ok := lastLabel(name)
	if !ok {
		return "", errHost
	}
	if strings.Trim(last, "0123456789") == "" {
		// No top-level domain is a number: 1.2.3.256 and 127.1 are slips, and
		// resolvers disagree about what they mean.
		if _, err := netip.ParseAddr(name); err != nil {
			return "", errHost
		}
	}
	return strings.ToLower(name), nil
}

// lastLabel returns the last label of a host name, and whether all of the name
// follows RFC 1035 section 2.3.4, with the underscores that networks use anyway.
func lastLabel(name string) (label string, ok bool) {
	if len(name) > 253 {
		return "", false
	}
	start := 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '.' {
			if c := name[i]; !isLetter(c) && !isDigit(c) && c != '-' && c != '_' {
				return "", false
			}
			continue
		}
		if i == start || i-start > 63 {
			return "", false
		}
		label, start = name[start:i], i+1
	}
	return label, true
}
