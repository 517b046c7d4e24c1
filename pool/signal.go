package pool

import "swivel/breaker"

// Signal is what one attempt ran into. It is a closed set: the names are log
// fields and metric labels.
type Signal uint8

// The signals, in the order of an attempt's phases.
const (
	NoSignal Signal = iota

	DialRefused // the proxy's port is closed
	DialTimeout // no connection in time
	DialFailed  // reset or unreachable
	DialNoName  // the proxy's name does not resolve
	DialTLS     // TLS to an https proxy fails
	LocalFault  // our own fault: no descriptor, no local port, no route, no CA file, deadline already spent, the process ends
	ClientGone  // the client left, its deadline passed, or we cancelled

	HandshakeGarbage     // not the protocol, oversized head, bad SOCKS method
	HandshakeAuth        // 407, 401, 402, SOCKS credentials rejected
	HandshakeThrottled   // 429, or 503 with Retry-After, from the proxy itself
	HandshakeDenied      // 403, SOCKS "not allowed by ruleset"
	HandshakeRejected    // 3xx, 501, other 4xx
	HandshakeLoop        // 508 of a swivel: the request comes round, to one that had it before
	HandshakeUnsupported // SOCKS command or address type not supported
	HandshakeGateway     // 408, 500, 502, 503, 504
	HandshakeClosed      // closed or reset without an answer
	HandshakeTimeout     // no answer in time
	HandshakeFailed      // SOCKS general failure
	TargetNamed          // a reply that blames the target (SOCKS 03-06, ERR_DNS_FAIL, Proxy-Status)

	FirstByte    // tunnel: a byte from the target
	TunnelClosed // tunnel: closed before its first byte although the client sent some
	TunnelSilent // tunnel: no first byte in time
	TunnelUnused // tunnel: a 2xx, then nothing was asked of it

	Response        // plain: a head that the target produced
	ResponseClosed  // plain: closed before a full head
	ResponseTimeout // plain: no head in time
	ResponseCut     // plain: body cut short
	ResponseGarbage // plain: a head that is not HTTP, or whose end is doubtful

	Reported // what a client says about what it got

	signals // how many there are
)

// meaning is what a signal alone says about its proxy.
type meaning uint8

const (
	saysSuccess meaning = iota
	saysFailure
	saysRefused
	saysThrottled
	saysNothing
	// saysDoubt: the proxy or the target may be at fault; what else is known
	// about the target decides.
	saysDoubt
)

// signalTable is the whole mapping; adding a signal without a row here is a
// compile error in the test.
var signalTable = [signals]struct {
	name    string
	meaning meaning
}{
	NoSignal:             {"none", saysNothing},
	DialRefused:          {"dial_refused", saysFailure},
	DialTimeout:          {"dial_timeout", saysFailure},
	DialFailed:           {"dial_failed", saysFailure},
	DialNoName:           {"dial_no_name", saysFailure},
	DialTLS:              {"dial_tls", saysFailure},
	LocalFault:           {"local_fault", saysNothing},
	ClientGone:           {"client_gone", saysNothing},
	HandshakeGarbage:     {"handshake_garbage", saysFailure},
	HandshakeAuth:        {"handshake_auth", saysRefused},
	HandshakeThrottled:   {"handshake_throttled", saysThrottled},
	HandshakeDenied:      {"handshake_denied", saysNothing},
	HandshakeRejected:    {"handshake_rejected", saysFailure},
	HandshakeLoop:        {"handshake_loop", saysFailure},
	HandshakeUnsupported: {"handshake_unsupported", saysNothing},
	HandshakeGateway:     {"handshake_gateway", saysDoubt},
	HandshakeClosed:      {"handshake_closed", saysDoubt},
	HandshakeTimeout:     {"handshake_timeout", saysDoubt},
	HandshakeFailed:      {"handshake_failed", saysDoubt},
	TargetNamed:          {"target_named", saysNothing},
	FirstByte:            {"first_byte", saysSuccess},
	TunnelClosed:         {"tunnel_closed", saysDoubt},
	TunnelSilent:         {"tunnel_silent", saysDoubt},
	TunnelUnused:         {"tunnel_unused", saysNothing},
	Response:             {"response", saysSuccess},
	ResponseClosed:       {"response_closed", saysDoubt},
	ResponseTimeout:      {"response_timeout", saysDoubt},
	ResponseCut:          {"response_cut", saysDoubt},
	ResponseGarbage:      {"response_garbage", saysDoubt},
	Reported:             {"reported", saysNothing}, // Report says what
}

// String returns the signal's fixed name.
func (s Signal) String() string {
	if s >= signals {
		return "unknown"
	}
	return signalTable[s].name
}

// Timeout says whether the attempt ended because time ran out: an exchange
// whose attempts all did is answered with 504.
func (s Signal) Timeout() bool {
	switch s {
	case DialTimeout, HandshakeTimeout, TunnelSilent, ResponseTimeout:
		return true
	}
	return false
}

// Doubtful says whether it may as well be the target that is at fault.
func (s Signal) Doubtful() bool { return s == TargetNamed || signalTable[s].meaning == saysDoubt }

// dial says whether the proxy could not even be connected.
func (s Signal) dial() bool { return s >= DialRefused && s <= DialTLS }

// stays says that another connection to the proxy would find the same.
func (s Signal) stays() bool {
	return s.dial() || s == HandshakeUnsupported || s == HandshakeLoop
}

// outcome is the breaker's word for a signal that needs no second opinion.
func (s Signal) outcome() (o breaker.Outcome, doubt bool) {
	switch signalTable[s].meaning {
	case saysSuccess:
		return breaker.Success, false
	case saysFailure:
		return breaker.Failure, false
	case saysRefused:
		return breaker.Refused, false
	case saysThrottled:
		return breaker.Throttled, false
	case saysDoubt:
		return breaker.Ignored, true
	}
	return breaker.Ignored, false
}
