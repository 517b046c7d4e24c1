package upstream

import (
	"time"

	"swivel/pool"
)

// Signal says what the head of the response means for the proxy: pool.Response
// when the target produced it, whatever its status. A refusal or an error that
// the proxy made up itself means what it would mean in answer to a CONNECT; how
// long a throttling proxy wants to be left alone comes with it. What came through
// a tunnel is no proxy's: SOCKS speaks no HTTP, and an HTTP proxy has said 200.
func (resp *Response) Signal(now time.Time) (pool.Signal, time.Duration) {
	if resp.session.key.target != "" {
		return pool.Response, 0
	}
	switch resp.Status {
	case 407: // never an origin's: it is about the hop to the proxy
	case 401, 402, 403, 408, 429, 500, 502, 503, 504, 508:
		if !HasProxyMark(resp.Fields) {
			return pool.Response, 0
		}
	default:
		return pool.Response, 0
	}
	return ReplySignal(&resp.Response, now)
}
