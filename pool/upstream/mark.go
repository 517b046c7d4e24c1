package upstream

import (
	"slices"
	"strings"

	"swivel/pool/upstream/http1"
)

// HasProxyMark says whether a reply to a plain request was written by the
// forward proxy itself and not by the target. Ask it about refusals and errors
// (401, 402, 403, 407, 408, 429, 5xx): a proxy may well put its name on what it passes
// on.
//
// The rule leans to "the target's", since a site's own 503 must not be held
// against the proxy that fetched it. These are marks:
//
//   - Proxy-Authenticate, which speaks of one hop and is not passed on;
//   - X-Squid-Error, which squid puts on its own pages only;
//   - Proxy-Status with an error parameter; without one it only tells what a
//     proxy did with a reply (RFC 9209);
//   - a Server that is known as a forward proxy: they leave the Server of a
//     reply that they pass on alone. This is what gives away tinyproxy's 401
//     for a wrong password;
//   - Proxy-Agent, unless the Server of an origin stands beside it: there are
//     proxies that stamp all they pass on;
//   - a page that has nothing on it but a proxy's Via or Proxy-Connection and
//     how it is delivered. Via alone is no mark: CDNs and gateways in front of
//     origins send it, and forward proxies add it to what they pass on. Those
//     replies bear a Date, a Server, a Cache-Control or more of an origin.
func HasProxyMark(f http1.Fields) bool {
	switch {
	case f.Count("Proxy-Authenticate") > 0, f.Count("X-Squid-Error") > 0:
		return true
	case f.Count("Server") > 0:
		return isForwardProxy(f.Get("Server")) || hasProxyError(f)
	case f.Count("Proxy-Agent") > 0:
		return true
	}
	return hasProxyError(f) || isBarePage(f)
}

func hasProxyError(f http1.Fields) bool {
	return anyProxyError(f, func(string) bool { return true })
}

// isForwardProxy looks at the product name in "tinyproxy/1.11.1".
func isForwardProxy(server string) bool {
	name := strings.ToLower(server)
	if i := strings.IndexAny(name, "/ "); i >= 0 {
		name = name[:i]
	}
	return slices.Contains(forwardProxies, name)
}

var forwardProxies = []string{"tinyproxy", "squid", "privoxy", "3proxy", "polipo", "mitmproxy"}

// isBarePage says whether a hop signed the reply and no origin did.
func isBarePage(f http1.Fields) bool {
	hop := false
	for i := range f {
		switch name := strings.ToLower(f[i].Name); name {
		case "via", "proxy-connection":
			hop = true
		default:
			if !slices.Contains(bodyFields, name) {
				return false
			}
		}
	}
	return hop
}

// bodyFields say how a page is delivered, whoever wrote it.
var bodyFields = []string{
	"connection", "content-language", "content-length", "content-type",
	"keep-alive", "mime-version", "retry-after", "transfer-encoding",
}
