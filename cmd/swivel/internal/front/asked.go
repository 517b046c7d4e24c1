package front

import (
	"strings"
	"unicode"
)

// mostAsked bounds what the log shows of a target that was refused: the longest
// host with its port.
const mostAsked = maxHost + len(":65535")

// askedFor is the target of a request that was refused, as host:port for the log:
// who looks for what is wrong has to find it. It may be malformed, but holds no
// credentials, no control characters and no path; "" if there is none that can
// be shown.
func askedFor(method, target string) string {
	scheme, authority, isURL := strings.Cut(target, "://")
	port := ":80"
	switch {
	case !isURL && method != "CONNECT":
		return "" // a path, as servers get it
	case !isURL:
		authority, port = target, ""
	case strings.EqualFold(scheme, "https"), strings.EqualFold(scheme, "wss"):
		port = ":443"
	}
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority = authority[:end]
	}
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	host, given, refused := splitAuthority(authority)
	switch {
	case refused != nil && strings.Contains(target, "@"):
		return "" // its password may hold a slash
	case refused != nil:
		return printable(authority)
	case given != "":
		port = ":" + given
	}
	return printable(host + port)
}

// printable is a text in one line, and not longer than mostAsked.
func printable(text string) string {
	text = text[:min(len(text), mostAsked)]
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == ' ' {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(text, "_"))
}
