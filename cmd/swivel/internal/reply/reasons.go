package reply

import (
	"slices"
	"strconv"
	"strings"

	"swivel/pool"
)

// AttemptsSpent means that proxies were tried and none could serve. The text
// says what they ran into, in words that give nothing away: a user whose
// password in the list is wrong has to be able to see it.
func AttemptsSpent(tried []pool.Signal) *Error {
	e := &Error{Status: 502, Code: "attempts_spent", proxyStatus: "destination_unavailable",
		Text: attempts(len(tried)) + " failed: " + reasons(tried)}
	switch {
	case len(tried) == 0:
	case only(tried, pool.HandshakeAuth):
		e.proxyStatus = "proxy_configuration_error"
	case only(tried, pool.ResponseClosed, pool.ResponseCut):
		e.proxyStatus = "connection_terminated"
	}
	return e
}

// only says whether all that was tried ran into one of these.
func only(tried []pool.Signal, these ...pool.Signal) bool {
	return !slices.ContainsFunc(tried, func(s pool.Signal) bool { return !slices.Contains(these, s) })
}

// reasons counts the reasons, in the order in which they first came up.
func reasons(tried []pool.Signal) string {
	var order []string
	counts := map[string]int{}
	for _, s := range tried {
		r := reason(s)
		if counts[r]++; counts[r] == 1 {
			order = append(order, r)
		}
	}
	for i, r := range order {
		order[i] = strconv.Itoa(counts[r]) + " " + r
	}
	return strings.Join(order, ", ")
}

// reason is a signal in words that follow a number of attempts.
func reason(s pool.Signal) string {
	switch s {
	case pool.DialRefused, pool.DialTimeout, pool.DialFailed, pool.DialNoName, pool.DialTLS:
		return "could not connect to the proxy"
	case pool.LocalFault:
		return "failed on this machine"
	case pool.HandshakeAuth:
		return "had the credentials in the list rejected by the proxy"
	case pool.HandshakeThrottled:
		return "met a proxy that wants a pause"
	case pool.HandshakeDenied, pool.HandshakeUnsupported:
		return "met a proxy that does not serve this target"
	case pool.HandshakeGateway, pool.HandshakeFailed, pool.TargetNamed:
		return "did not reach the target"
	case pool.HandshakeLoop:
		return "met a proxy that leads back here"
	case pool.HandshakeClosed, pool.TunnelClosed, pool.ResponseClosed, pool.ResponseCut:
		return "met a proxy that hung up"
	case pool.HandshakeTimeout, pool.TunnelSilent, pool.ResponseTimeout:
		return "got no answer in time"
	}
	return "got no sensible answer from the proxy"
}

func attempts(n int) string {
	if n == 1 {
		return "1 attempt"
	}
	return strconv.Itoa(n) + " attempts"
}
