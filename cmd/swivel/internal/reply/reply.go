// Package reply is what swivel itself says to a client instead of the target:
// one table from the reason to status, code and text, and one way to write it.
//
// Clients drop the body of a refused CONNECT, so the reason also stands in the
// status phrase and in fields. Nothing here ever holds an internal address, a
// credential or the text of a Go error: those are in the log line that bears
// the same request id.
package reply

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"swivel/pool/upstream/http1"
)

// Error is a refusal. The zero value is not one; see the functions below.
// It is immutable and may be shared.
type Error struct {
	Status int
	Code   string // machine-readable, from a closed set
	Text   string // one line for people
	// proxyStatus is the error type of RFC 9209 section 2.3.
	proxyStatus string
	// RetryAfter is when trying again makes sense; 0 when that is unknown.
	RetryAfter time.Duration
}

func (e *Error) Error() string { return e.Code + ": " + e.Text }

// BadRequest is a request that is not acceptable HTTP. The status is 400 or
// one of its special cases.
func BadRequest(status int, text string) *Error {
	return &Error{Status: status, Code: "bad_request", Text: text, proxyStatus: "http_request_error"}
}

// FromHTTP turns an error of the parser into the refusal.
func FromHTTP(err *http1.Error) *Error { return BadRequest(err.Status, err.Text) }

// BadRoutingKey is a routing key that is not known or has no good value; text
// names it.
func BadRoutingKey(text string) *Error {
	return &Error{Status: 400, Code: "bad_routing_key", Text: text, proxyStatus: "http_request_error"}
}

// AuthRequired means that the client has to say who it is; text says what was
// wrong with what it said.
func AuthRequired(text string) *Error {
	return &Error{Status: 407, Code: "auth_required", Text: text, proxyStatus: "http_request_denied"}
}

// RateLimited means that the client asks more often than it may.
func RateLimited(retryAfter time.Duration) *Error {
	return &Error{Status: 429, Code: "rate_limited", proxyStatus: "http_request_denied",
		Text: "more requests than this client may make", RetryAfter: max(retryAfter, time.Second)}
}

// TargetDenied is a target that this proxy does not serve.
func TargetDenied(text string) *Error {
	return &Error{Status: 403, Code: "target_denied", Text: text, proxyStatus: "http_request_denied"}
}

// Loop is a request that leads back to this proxy.
func Loop(text string) *Error {
	return &Error{Status: 508, Code: "loop", Text: text, proxyStatus: "proxy_loop_detected"}
}

// NotRepeatable is e of an exchange that ended because its request was on its way
// when the proxy failed: to send it again might do the same thing twice.
func (e *Error) NotRepeatable() *Error {
	said := *e
	said.Text += "; the request was sent, and it is not safe to repeat"
	return &said
}

// TargetDown means that the proxies themselves say the target is the problem.
func TargetDown() *Error {
	return &Error{Status: 502, Code: "target_down", proxyStatus: "destination_unavailable",
		Text: "several proxies report that the target cannot be reached"}
}

// TargetRests means that the target was found to be down a moment ago, and is
// left alone until it is tried again.
func TargetRests(retryAfter time.Duration) *Error {
	return &Error{Status: 502, Code: "target_down", proxyStatus: "destination_unavailable",
		Text: "no proxy could reach the target a moment ago; it is tried again later", RetryAfter: max(retryAfter, time.Second)}
}

// TargetAuth means that the target itself asks for a proxy's password. Clients
// would take that for this proxy's question, and answer it.
func TargetAuth() *Error {
	return &Error{Status: 502, Code: "target_auth", proxyStatus: "http_protocol_error",
		Text: "the target answered 407, which is for a proxy to say and would be taken for swivel's"}
}

// Timeout means that every attempt ran out of time.
func Timeout(n int) *Error {
	return &Error{Status: 504, Code: "timeout", proxyStatus: "connection_timeout",
		Text: attempts(n) + ", none answered in time"}
}

// NoProxy means that no proxy may be used now.
func NoProxy(retryAfter time.Duration) *Error {
	return &Error{Status: 503, Code: "no_proxy", proxyStatus: "destination_unavailable",
		Text: "no proxy of the pool is available", RetryAfter: max(retryAfter, time.Second)}
}

// NoneOfKind means that those which meet the client's routing keys may not be used
// now.
func NoneOfKind(retryAfter time.Duration) *Error {
	e := NoProxy(retryAfter)
	e.Text = "no proxy that meets the routing keys is available"
	return e
}

// KeptAway means that all proxies which could serve are kept away from this
// target: they, or the target itself, have refused it there, or a client said so.
func KeptAway(retryAfter time.Duration) *Error {
	e := NoProxy(retryAfter)
	e.Text = "every proxy that could serve is kept away from this target for a while, having been refused there"
	return e
}

// NotItsProxy means that the proxy of a strict session may not be used now.
func NotItsProxy(retryAfter time.Duration) *Error {
	e := NoProxy(retryAfter)
	e.Text = "the proxy of the session is not available, and the session is strict"
	return e
}

// SessionMoved is the response field that says why a session is served by another
// proxy than before.
const SessionMoved = "X-Swivel-Session-Moved"

// NoMatch means that the pool has no proxy at all of the kind that the routing
// keys ask for; those that nobody meets are named. To wait is hardly any use, but
// the next list may have one.
func NoMatch(keys []string) *Error {
	word := "key "
	if len(keys) > 1 {
		word = "keys "
	}
	return &Error{Status: 503, Code: "no_proxy", proxyStatus: "destination_unavailable",
		Text: "no proxy of the list meets the routing " + word + strings.Join(keys, ", "), RetryAfter: time.Minute}
}

// LocalFault means that this machine could not even try: it is out of
// descriptors, ports or routes, or a file of CA certificates has gone bad.
func LocalFault() *Error {
	return &Error{Status: 503, Code: "over_capacity", proxyStatus: "proxy_internal_error",
		Text: "this machine has no descriptors, ports or routes left to reach a proxy, or cannot read a file that this takes", RetryAfter: time.Second}
}

// OverCapacity means that swivel itself is full.
func OverCapacity() *Error {
	return &Error{Status: 503, Code: "over_capacity", proxyStatus: "connection_limit_reached",
		Text: "too many client connections", RetryAfter: time.Second}
}

// Stopping means that the process ends before there is an answer.
func Stopping() *Error {
	return &Error{Status: 503, Code: "over_capacity", proxyStatus: "proxy_internal_error",
		Text: "swivel is being stopped", RetryAfter: time.Second}
}

// TooManyConnections means that the client has as many connections as it may.
func TooManyConnections() *Error {
	return &Error{Status: 503, Code: "over_capacity", proxyStatus: "connection_limit_reached",
		Text: "this client has too many connections", RetryAfter: time.Second}
}

// TooManyLogins means that the client's password could not be checked in time.
func TooManyLogins() *Error {
	return &Error{Status: 503, Code: "over_capacity", proxyStatus: "proxy_internal_error",
		Text: "too many passwords are being checked", RetryAfter: time.Second}
}

// Append appends the whole reply to dst. A CONNECT gets the text as its status
// phrase. The connection is to be closed behind it.
func (e *Error) Append(dst []byte, requestID, method string) []byte {
	return e.append(dst, requestID, method, "\r\nConnection: close")
}

// AppendOpen is Append for a connection that may carry another request.
func (e *Error) AppendOpen(dst []byte, requestID, method string) []byte {
	return e.append(dst, requestID, method, "")
}

func (e *Error) append(dst []byte, requestID, method, closing string) []byte {
	phrase := http.StatusText(e.Status)
	if method == "CONNECT" {
		phrase = e.Text
	}
	body := "swivel: " + e.Text + " (" + e.Code + ", request " + requestID + ")\n"
	dst = append(dst, "HTTP/1.1 "...)
	dst = strconv.AppendInt(dst, int64(e.Status), 10)
	dst = append(dst, ' ')
	dst = append(dst, phrase...)
	dst = append(dst, "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(body)), 10)
	dst = append(dst, "\r\nProxy-Status: swivel; error="...)
	dst = append(dst, e.proxyStatus...)
	dst = append(dst, "\r\nX-Swivel-Error: "...)
	dst = append(dst, e.Code...)
	dst = append(dst, "\r\nX-Request-Id: "...)
	dst = append(dst, requestID...)
	if e.RetryAfter > 0 {
		dst = append(dst, "\r\nRetry-After: "...)
		dst = strconv.AppendInt(dst, int64(math.Ceil(e.RetryAfter.Seconds())), 10)
	}
	if e.Status == 407 {
		dst = append(dst, "\r\nProxy-Authenticate: Basic realm=\"swivel\""...)
	}
	dst = append(dst, closing...)
	dst = append(dst, "\r\n\r\n"...)
	if method == "HEAD" {
		return dst
	}
	return append(dst, body...)
}

// AppendOptions appends the answer to an OPTIONS that may not be forwarded: what
// this proxy serves. Methods that it does not list are served too, but TRACE.
func AppendOptions(dst []byte, requestID string, closing bool) []byte {
	dst = append(dst, "HTTP/1.1 200 OK\r\nAllow: GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS, CONNECT\r\nContent-Length: 0\r\nX-Request-Id: "...)
	dst = append(dst, requestID...)
	if closing {
		dst = append(dst, "\r\nConnection: close"...)
	}
	return append(dst, "\r\n\r\n"...)
}
