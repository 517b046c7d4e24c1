package pool

import (
	"errors"
	"net/netip"
	"strings"
)

var (
	errForm = errors.New("the address is not host:port, host:port:user:pass, user:pass@host:port or user:pass:host:port")

	errSlash = errors.New("credentials with / ? or # need a port behind the host, or percent-encoding")
)

// address is the first part of a list line, before variables and escapes in
// its credentials are resolved.
type address struct {
	scheme Scheme
	endpoint
	credentials
}

// parseAddress reads an address in any form but proxychains', which has blanks.
//
// Text with an @ is user:pass@host:port, split at the last @, as in a URI. It is
// host:port:user:pass with an @ in the password when that reads as such and the
// part behind the @ is no host:port, or the part before is an IP address, which
// nobody has for a user name. Of the forms with colons alone host:port:user:pass
// is tried before user:pass:host:port, because it is the one vendors export.
func parseAddress(text string) (address, error) {
	scheme, rest, isURI, err := cutScheme(text)
	if err != nil {
		return address{}, err
	}
	var fallback uint16
	if isURI {
		fallback = scheme.defaultPort()
	}
	a, err := parseForms(rest, fallback)
	a.scheme = scheme
	return a, err
}

// parseForms chooses between the form with an @ and those with colons only.
func parseForms(text string, fallback uint16) (address, error) {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return parseColons(text, fallback)
	}
	a, err := parseUserinfo(text[:at], text[at+1:], fallback)
	if err == nil && a.explicit && !startsWithIP(text) {
		return a, nil
	}
	if vendor, colonErr := parseColons(text, 0); colonErr == nil {
		return vendor, nil
	}
	if err == errPort || err == errNoPort {
		if _, reversed := parseEndpoint(text[:at], 0); reversed == nil {
			return address{}, errReversed
		}
	}
	return a, err
}

// startsWithIP reports whether the text up to the first colon is an IPv4
// address, or an IPv6 one in brackets.
func startsWithIP(text string) bool {
	if strings.HasPrefix(text, "[") {
		return true
	}
	if text == "" || !isDigit(text[0]) {
		return false
	}
	head, _, _ := strings.Cut(text, ":")
	_, err := netip.ParseAddr(head)
	return err == nil
}

// parseUserinfo reads user:pass@host:port cut at the @.
func parseUserinfo(userinfo, hostport string, fallback uint16) (a address, err error) {
	a.endpoint, err = parseEndpoint(strings.TrimSuffix(hostport, "/"), fallback)
	if err != nil {
		return address{}, err
	}
	// http://proxy.example:8080/?x=a@b is a URL somebody pasted; its b must not
	// be dialled because it stands behind an @.
	if !a.explicit && strings.ContainsAny(userinfo, "/?#") {
		return address{}, errSlash
	}
	a.user, a.password, _ = strings.Cut(userinfo, ":")
	a.encoded = true
	return a, nil
}

// parseColons reads the forms without an @: host:port alone, and with
// credentials behind it or before it.
func parseColons(text string, fallback uint16) (address, error) {
	e, err := parseEndpoint(strings.TrimSuffix(text, "/"), fallback)
	if err == nil {
		return address{endpoint: e}, nil
	}
	if err == errIPv6 {
		return address{}, err
	}
	if a, ok := hostFirst(text); ok {
		return a, nil
	}
	if a, ok := userFirst(text); ok {
		return a, nil
	}
	return address{}, err
}

// hostFirst reads host:port:user:pass. The password keeps its colons.
func hostFirst(text string) (a address, ok bool) {
	colons := text
	if strings.HasPrefix(text, "[") {
		colons = text[strings.IndexByte(text, ']')+1:]
	}
	_, afterHost, _ := strings.Cut(colons, ":")
	_, login, ok := strings.Cut(afterHost, ":")
	if !ok {
		return address{}, false
	}
	if a.user, a.password, ok = strings.Cut(login, ":"); !ok {
		return address{}, false
	}
	var err error
	a.endpoint, err = parseEndpoint(text[:len(text)-len(login)-1], 0)
	return a, err == nil
}

// userFirst reads user:pass:host:port. The password keeps its colons.
func userFirst(text string) (a address, ok bool) {
	at := strings.LastIndex(text, ":[")
	if at < 0 {
		at = strings.LastIndexByte(text[:max(strings.LastIndexByte(text, ':'), 0)], ':')
	}
	if at < 0 {
		return address{}, false
	}
	if a.user, a.password, ok = strings.Cut(text[:at], ":"); !ok {
		return address{}, false
	}
	var err error
	a.endpoint, err = parseEndpoint(strings.TrimSuffix(text[at+1:], "/"), 0)
	return a, err == nil
}
