// Package forward serves plain HTTP requests (absolute-form targets) through
// the proxies of the pool.
//
// The filter chain in the middle is goproxy's; both ends are ours. goproxy's
// own ends (net/http) would add fields, sort and re-spell others, hide cut
// bodies and buffer streams, so it is given a request that wraps the head as it
// was received, a round tripper that runs the attempts, and a response writer
// that writes the target's head in its own order and spelling. What a goproxy
// handler changes in the header maps is honoured.
//
// goproxy's own transport and dialers are replaced by ones that refuse: no
// request can leave this process but through a proxy of the pool.
package forward
