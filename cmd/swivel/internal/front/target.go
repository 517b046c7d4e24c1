package front

import (
	"net/netip"
	"strconv"
	"strings"

	"swivel/cmd/swivel/internal/reply"
	"swivel/pool/upstream/http1"
)

// maxHost is the longest host name there can be (RFC 1035 section 2.3.4), with
// room for the brackets of an IPv6 literal.
const maxHost = 255

func badTarget(text string) *reply.Error { return reply.BadRequest(400, text) }

// connectTarget checks the target of a CONNECT, which is host:port and nothing
// else (RFC 9110 section 9.3.6: no default port).
func connectTarget(target string) (authority string, refused *reply.Error) {
	if strings.Contains(target, "/") {
		return "", badTarget("the target of CONNECT is host:port, not a URL")
	}
	host, port, refused := splitAuthority(target)
	switch {
	case refused != nil:
		return "", refused
	case port == "":
		return "", badTarget("the target of CONNECT needs a port")
	}
	return host + ":" + port, nil
}

// plainTarget is the target of a request other than CONNECT.
type plainTarget struct {
	authority string // host:port, the port always given
	host      string // as the Host field should say it: without the default port
	origin    string // the target in origin-form, for a server itself
}

// absoluteTarget checks an absolute-form target (RFC 9112 section 3.2.2).
func absoluteTarget(r *http1.Request) (plainTarget, *reply.Error) {
	scheme, rest, ok := strings.Cut(r.Target, "://")
	if !ok {
		return plainTarget{}, badTarget("this is a proxy: send an absolute http:// URL, or CONNECT")
	}
	switch {
	case strings.EqualFold(scheme, "http"), strings.EqualFold(scheme, "ws"):
	case strings.EqualFold(scheme, "https"), strings.EqualFold(scheme, "wss"):
		return plainTarget{}, badTarget("use CONNECT for https targets")
	default:
		return plainTarget{}, badTarget("only http:// URLs and CONNECT are served here")
	}
	if strings.ContainsRune(rest, '#') {
		return plainTarget{}, badTarget("the target holds a fragment")
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	host, port, refused := splitAuthority(rest[:end])
	if refused != nil {
		return plainTarget{}, refused
	}
	t := plainTarget{host: rest[:end], origin: originForm(r.Method, rest[end:])}
	if port == "" {
		port = "80"
		t.host = host
	}
	t.authority = host + ":" + port
	return t, nil
}

// originForm is what a server itself is asked (RFC 9112 sections 3.2.1, 3.2.4).
func originForm(method, path string) string {
	switch {
	case path == "" && method == "OPTIONS":
		return "*"
	case path == "" || path[0] == '?':
		return "/" + path
	}
	return path
}

// splitAuthority parses host[:port]; an IPv6 host keeps its brackets. The port
// is "" when it is absent or empty.
func splitAuthority(s string) (host, port string, refused *reply.Error) {
	if strings.ContainsRune(s, '@') {
		return "", "", badTarget("the target holds user info")
	}
	if strings.HasPrefix(s, "[") {
		return splitV6(s)
	}
	host, port, _ = strings.Cut(s, ":")
	switch {
	case host == "":
		return "", "", badTarget("the target has no host")
	case len(host) > maxHost || !isHost(host):
		return "", "", badTarget("the host of the target is malformed")
	case port != "" && !isPort(port):
		return "", "", badTarget("the port of the target is not a number from 1 to 65535")
	}
	return host, port, nil
}

func splitV6(s string) (host, port string, refused *reply.Error) {
	literal, rest, ok := strings.Cut(s[1:], "]")
	addr, err := netip.ParseAddr(literal)
	if !ok || err != nil || !addr.Is6() || addr.Zone() != "" {
		return "", "", badTarget("the IPv6 host of the target is malformed")
	}
	if rest != "" && rest[0] != ':' {
		return "", "", badTarget("the host of the target is malformed")
	}
	port = strings.TrimPrefix(rest, ":")
	if port != "" && !isPort(port) {
		return "", "", badTarget("the port of the target is not a number from 1 to 65535")
	}
	return s[:len(literal)+2], port, nil
}

// isHost takes names that are not quite legal but exist (underscores, UTF-8):
// looking them up is the proxy's business. It refuses what could end a line or
// a URL part somewhere, and '%', since whether an escape or a zone is meant is
// read differently by every proxy.
func isHost(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			c == '-' || c == '.' || c == '_' || c == '~' || c >= 0x80
		if !ok {
			return false
		}
	}
	return true
}

func isPort(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	n, err := strconv.Atoi(s)
	return err == nil && n >= 1 && n <= 65535 && len(s) <= 5
}

// checkHost wants exactly one sound Host field of an HTTP/1.1 request (RFC 9112
// section 3.2). What it says is then replaced by the target's own host. An empty one
// is for targets without a host, of which there are none here.
func checkHost(r *http1.Request) *reply.Error {
	if refused := oneHost(r); refused != nil {
		return refused
	}
	switch n := r.Fields.Count("Host"); {
	case n == 0 && r.Minor > 0:
		return reply.BadRequest(400, "the Host field is missing")
	case n == 0:
		return nil
	}
	if _, _, refused := splitAuthority(r.Fields.Get("Host")); refused != nil {
		return reply.BadRequest(400, "the Host field is malformed")
	}
	return nil
}

// oneHost refuses a second Host field, be it an equal one. It is all that is asked
// of the Host of a CONNECT: there are clients that send none, or any.
func oneHost(r *http1.Request) *reply.Error {
	if r.Fields.Count("Host") > 1 {
		return reply.BadRequest(400, "more than one Host field")
	}
	return nil
}
