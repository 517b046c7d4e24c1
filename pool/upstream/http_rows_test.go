package upstream

import (
	"net/http"
	"strings"
	"time"

	"swivel/pool"
)

func httpRows() []row {
	to := "origin.test:443"
	return []row{
		answer("200", okReply, pool.NoSignal, 0),
		answer("HTTP/1.0 and Connection close mean nothing", "HTTP/1.0 200 Connection established\r\nProxy-Agent: tinyproxy/1.11.1\r\nConnection: close\r\n\r\n", pool.NoSignal, 0),
		answer("204", status("204 No Content"), pool.NoSignal, 0),
		answer("299 without a phrase", "HTTP/1.1 299\r\n\r\n", pool.NoSignal, 0),
		answer("a length with a 200 is ignored", status("200 OK", "Content-Length: 5"), pool.NoSignal, 0),
		answer("bare line feeds", "HTTP/1.1 200 OK\nX: y\n\n", pool.NoSignal, 0),
		answer("interim replies", strings.Repeat(status("103 Early Hints", "Link: </x>"), 8)+okReply, pool.NoSignal, 0),
		answer("interim replies without end", strings.Repeat(status("100 Continue"), 9), pool.HandshakeGarbage, 0),
		answer("101", status("101 Switching Protocols"), pool.HandshakeGarbage, 101),
		{name: "IPv6 target in brackets", target: "[2001:db8::1]:443", steps: []step{{connectHead("[2001:db8::1]:443", ""), okReply}}},
		{name: "credentials", user: "user1:s3cret", steps: []step{{connectHead(to, "user1:s3cret"), okReply}}},
		{name: "user without password", user: "user1:", steps: []step{{connectHead(to, "user1:"), okReply}}},
		{name: "control bytes stay inside base64", user: "user1\r\nX-Evil: 1:p\x00w", steps: []step{{connectHead(to, "user1\r\nX-Evil: 1:p\x00w"), okReply}}},

		answer("407", status("407 Proxy Authentication Required", `Proxy-Authenticate: Basic realm="vendor"`, "Content-Length: 1048576"), pool.HandshakeAuth, 407),
		answer("401", status("401 Unauthorized"), pool.HandshakeAuth, 401),
		answer("402", status("402 Payment Required"), pool.HandshakeAuth, 402),
		answer("403", status("403 Forbidden"), pool.HandshakeDenied, 403),
		answer("429 without a time", status("429 Too Many Requests"), pool.HandshakeThrottled, 429).rests(30 * time.Second),
		answer("429 with a time", status("429 Too Many Requests", "Retry-After: 7"), pool.HandshakeThrottled, 429).rests(7 * time.Second),
		answer("503 with a time", status("503 Service Unavailable", "Retry-After: 120"), pool.HandshakeThrottled, 503).rests(2 * time.Minute),
		answer("503 with a time long past", status("503 Service Unavailable", "Retry-After: "+time.Unix(0, 0).UTC().Format(http.TimeFormat)), pool.HandshakeGateway, 503),
		answer("503", status("503 Service Unavailable"), pool.HandshakeGateway, 503),
		answer("503 for a name", status("503 Service Unavailable", "X-Squid-Error: ERR_DNS_FAIL 0"), pool.TargetNamed, 503),
		answer("502 that names the target", status("502 Bad Gateway", "Proxy-Status: exit; error=destination_unavailable"), pool.TargetNamed, 502),
		answer("408", status("408 Request Timeout"), pool.HandshakeGateway, 408),
		answer("500", status("500 Unable to connect"), pool.HandshakeGateway, 500),
		answer("502", status("502 Bad Gateway"), pool.HandshakeGateway, 502),
		answer("504", status("504 Gateway Timeout"), pool.HandshakeGateway, 504),
		answer("302", status("302 Found", "Location: http://portal.test/"), pool.HandshakeRejected, 302),
		answer("404", status("404 Not Found"), pool.HandshakeRejected, 404),
		answer("405", status("405 Method Not Allowed"), pool.HandshakeRejected, 405),
		answer("501", status("501 Not Implemented"), pool.HandshakeRejected, 501),
		answer("508 of a swivel", status("508 Loop Detected", "X-Swivel-Error: loop"), pool.HandshakeLoop, 508),
		answer("508", status("508 Resource Limit Is Reached"), pool.HandshakeRejected, 508),
		answer("520", status("520 Unknown"), pool.HandshakeRejected, 520),

		answer("another protocol's greeting", "SSH-2.0-OpenSSH_9.6\r\n", pool.HandshakeGarbage, 0),
		answer("a SOCKS5 server", "\x05\xff", pool.HandshakeGarbage, 0),
		answer("HTTP/2", "HTTP/2 200\r\n\r\n", pool.HandshakeGarbage, 0),
		answer("status without digits", "HTTP/1.1 OK\r\n\r\n", pool.HandshakeGarbage, 0),
		answer("oversized head", okReply[:len(okReply)-2]+"X-Pad: "+strings.Repeat("x", maxReplyHead)+"\r\n\r\n", pool.HandshakeGarbage, 0),
		answer("oversized first line", "HTTP/1.1 200 "+strings.Repeat("x", maxReplyHead)+"\r\n\r\n", pool.HandshakeGarbage, 0),
		answer("closed without an answer", "", pool.HandshakeClosed, 0).ends(hangUp),
		answer("closed inside the head", "HTTP/1.1 200 OK\r\nX:", pool.HandshakeClosed, 0).ends(hangUp),
		answer("reset without an answer", "", pool.HandshakeClosed, 0).ends(reset),
		answer("silence", "", pool.HandshakeTimeout, 0),
		answer("silence inside the head", "HTTP/1.1 200 OK\r\n", pool.HandshakeTimeout, 0),
	}
}
