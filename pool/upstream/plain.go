package upstream

import (
	"time"

	"swivel/pool"
	"swivel/pool/upstream/http1"
)

// PlainSignal says what the head of a plain response means for the proxy:
// pool.Response when the target produced it, whatever its status. A refusal or
// an error that the proxy p made up itself means what it would mean in answer
// to a CONNECT; how long a throttling proxy wants to be left alone comes with
// it.
func PlainSignal(resp *http1.Response, p *pool.Spec, now time.Time) (pool.Signal, time.Duration) {
	if p.Scheme != pool.HTTP && p.Scheme != pool.HTTPS {
		return pool.Response, 0 // a SOCKS proxy speaks no HTTP
	}
	switch resp.Status {
	case 407: // never an origin's: it is about the hop to the proxy
	case 401, 402, 403, 429, 500, 502, 503, 504, 508:
		if !HasProxyMark(resp.Fields) {
			return pool.Response, 0
		}
	default:
		return pool.Response, 0
	}
	return ReplySignal(resp, now)
}
