package upstream

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/http1"
)

// Bounds of the rest that a throttling proxy asks for.
const (
	defaultRest = 30 * time.Second // a 429 that names no time
	maxRest     = 365 * 24 * time.Hour
)

// ReplySignal says what a proxy means by its own reply: to CONNECT, or to a
// plain request if the reply bears the proxy's mark (see HasProxyMark).
// NoSignal is a 2xx. The duration is how long a throttling proxy wants to be
// left alone, 0 with any other signal.
func ReplySignal(resp *http1.Response, now time.Time) (pool.Signal, time.Duration) {
	switch s := resp.Status; s {
	case 401, 402, 407:
		return pool.HandshakeAuth, 0
	case 403:
		return pool.HandshakeDenied, 0
	case 429:
		rest := retryAfter(resp.Fields.Get("Retry-After"), now)
		if rest == 0 {
			rest = defaultRest
		}
		return pool.HandshakeThrottled, rest
	case 408, 500, 502, 503, 504:
		return gatewaySignal(resp, now)
	default:
		switch {
		case s == 508 && resp.Fields.Get("X-Swivel-Error") == "loop": // others say 508 of other things, too
			return pool.HandshakeLoop, 0
		case s < 200:
			return pool.HandshakeGarbage, 0
		case s < 300:
			return pool.NoSignal, 0
		}
		return pool.HandshakeRejected, 0
	}
}

// gatewaySignal splits the statuses that may be about the target or about the
// proxy. A proxy that names the target is believed even if it adds a
// Retry-After; that is then the target's.
func gatewaySignal(resp *http1.Response, now time.Time) (pool.Signal, time.Duration) {
	if namesTarget(resp.Fields) {
		return pool.TargetNamed, 0
	}
	if resp.Status == 503 {
		if rest := retryAfter(resp.Fields.Get("Retry-After"), now); rest > 0 {
			return pool.HandshakeThrottled, rest
		}
	}
	return pool.HandshakeGateway, 0
}

// namesTarget says whether the reply blames the target: squid's error code for
// a name that does not resolve, or one of the error types of RFC 9209 that
// speak of the destination.
func namesTarget(f http1.Fields) bool {
	code, _, _ := strings.Cut(f.Get("X-Squid-Error"), " ")
	return code == "ERR_DNS_FAIL" || anyProxyError(f, func(kind string) bool {
		return kind == "dns_error" || strings.HasPrefix(kind, "destination_")
	})
}

// RetryAfter is how long the sender of a reply asks to be left alone; 0 when it
// names no time to come.
func RetryAfter(f http1.Fields, now time.Time) time.Duration {
	return retryAfter(f.Get("Retry-After"), now)
}

// retryAfter parses a Retry-After value (RFC 9110 section 10.2.3), seconds or
// a date. 0 means that it names no time to come.
func retryAfter(value string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(value, 10, 32); err == nil || errors.Is(err, strconv.ErrRange) { // n then is the greatest
		return min(time.Duration(n)*time.Second, maxRest)
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(date.Sub(now), 0), maxRest)
}

// anyProxyError says whether match likes an error parameter of some
// Proxy-Status member (RFC 9209 section 2.1.1).
func anyProxyError(f http1.Fields, match func(kind string) bool) bool {
	for i := range f {
		if !strings.EqualFold(f[i].Name, "Proxy-Status") {
			continue
		}
		for rest := f[i].Value; rest != ""; {
			var part string
			part, rest = cutUnquoted(rest)
			key, kind, _ := strings.Cut(strings.TrimSpace(part), "=")
			if key == "error" && match(kind) {
				return true
			}
		}
	}
	return false
}

// cutUnquoted cuts a structured field at its first ";" or "," outside quotes:
// the free text of a details parameter may hold anything.
func cutUnquoted(s string) (part, rest string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ';' || c == ','):
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}
