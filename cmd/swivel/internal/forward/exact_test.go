package forward_test

import (
	"strings"
	"testing"
)

// row is one exchange, byte for byte at all four places. Requests and responses
// are written with \n for line ends, and the requests without their request
// line and Host field where those are the usual ones.
type row struct {
	name     string
	request  string // from the client
	received string // by the upstream
	response string // from the upstream
	answer   string // to the client
	closes   bool   // the client's connection ends behind it
}

const (
	get  = "GET http://site.test/ HTTP/1.1\nHost: site.test\n"
	ok   = "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi"
	post = "POST http://site.test/ HTTP/1.1\nHost: site.test\n"
)

var rows = []row{
	{"nothing is added", get + "\n", get + "\n", ok, ok, false},
	{
		"order, spelling and duplicates of fields are kept",
		"GET http://site.test/ HTTP/1.1\nZebra: 1\nsec-ch-ua: \"x\"\nHost: site.test\nX-JNLP-Port: 1\nCookie: a=1\nx-lower: 1\nCookie: b=2\nAccept: */*\n\n",
		"GET http://site.test/ HTTP/1.1\nZebra: 1\nsec-ch-ua: \"x\"\nHost: site.test\nX-JNLP-Port: 1\nCookie: a=1\nx-lower: 1\nCookie: b=2\nAccept: */*\n\n",
		"HTTP/1.1 200 OK\nx-zebra: 1\nSet-Cookie: a\nX-Jenkins-JNLP-Port: 50000\nset-cookie: b\ncontent-length: 0\nSET-COOKIE: c\n\n",
		"HTTP/1.1 200 OK\nx-zebra: 1\nSet-Cookie: a\nX-Jenkins-JNLP-Port: 50000\nset-cookie: b\ncontent-length: 0\nSET-COOKIE: c\n\n",
		false,
	},
	{
		"fields of one hop and nominated ones stay behind",
		get + "Connection: X-Hop, keep-alive\nX-Hop: 1\nKeep-Alive: timeout=5\nProxy-Connection: keep-alive\nTE: gzip\nX-End: 1\n\n",
		get + "X-End: 1\n\n",
		"HTTP/1.1 200 OK\nConnection: X-Hop, close\nX-Hop: 1\nKeep-Alive: timeout=5\nProxy-Connection: keep-alive\nX-End: 1\nContent-Length: 2\n\nhi",
		"HTTP/1.1 200 OK\nX-End: 1\nContent-Length: 2\n\nhi",
		false,
	},
	{
		"a Connection field cannot name Host or the framing away",
		post + "Connection: Content-Length, Host\nContent-Length: 2\n\nhi", post + "Content-Length: 2\n\nhi",
		"HTTP/1.1 200 OK\nConnection: content-length\nContent-Length: 2\n\nhi", ok, false,
	},
	{
		"the client's proxy credentials are not passed on, those for the site are",
		get + "Proxy-Authorization: Basic dXNlcjE6czNjcmV0\nAuthorization: Basic c2l0ZTpwdw==\n\n",
		get + "Authorization: Basic c2l0ZTpwdw==\n\n", ok, ok, false,
	},
	{
		"fields meant for swivel are not passed on",
		get + "X-Swivel-Session: abc\nx-swivel-route: ttl=5\nX-Swivelling: 1\n\n", get + "X-Swivelling: 1\n\n", ok, ok, false,
	},
	{
		"the response to HEAD keeps its Content-Length",
		"HEAD http://site.test/blob HTTP/1.1\nHost: site.test\n\n", "HEAD http://site.test/blob HTTP/1.1\nHost: site.test\n\n",
		"HTTP/1.1 200 OK\nContent-Length: 123456\nETag: x\n\n", "HTTP/1.1 200 OK\nContent-Length: 123456\nETag: x\n\n", false,
	},
	{
		"packed bodies are not touched",
		get + "Accept-Encoding: gzip\n\n", get + "Accept-Encoding: gzip\n\n",
		"HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Length: 4\n\n\x1f\x8b\x00\xff",
		"HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Length: 4\n\n\x1f\x8b\x00\xff", false,
	},
	{"an empty body stays an empty body", post + "Content-Length: 0\n\n", post + "Content-Length: 0\n\n", ok, ok, false},
	{"a POST without a body gains none", post + "\n", post + "\n", ok, ok, false},
	{"204 ends with its head", get + "\n", get + "\n", "HTTP/1.1 204 No Content\nX-A: 1\n\n", "HTTP/1.1 204 No Content\nX-A: 1\n\n", false},
	{
		"304 ends with its head although it states a length",
		get + "If-None-Match: x\n\n", get + "If-None-Match: x\n\n",
		"HTTP/1.1 304 Not Modified\nETag: x\nContent-Length: 99\n\n", "HTTP/1.1 304 Not Modified\nETag: x\nContent-Length: 99\n\n", false,
	},
	{
		"a range is passed on",
		get + "Range: bytes=0-1\n\n", get + "Range: bytes=0-1\n\n",
		"HTTP/1.1 206 Partial Content\nContent-Range: bytes 0-1/9\nContent-Length: 2\n\nhi",
		"HTTP/1.1 206 Partial Content\nContent-Range: bytes 0-1/9\nContent-Length: 2\n\nhi", false,
	},
	{"a status line without a reason", get + "\n", get + "\n", "HTTP/1.1 200\nContent-Length: 2\n\nhi", "HTTP/1.1 200 \nContent-Length: 2\n\nhi", false},
	{"a status line with an empty reason", get + "\n", get + "\n", "HTTP/1.1 200 \nContent-Length: 2\n\nhi", "HTTP/1.1 200 \nContent-Length: 2\n\nhi", false},
	{"an unknown status", get + "\n", get + "\n", "HTTP/1.1 299 Odd\nContent-Length: 2\n\nhi", "HTTP/1.1 299 Odd\nContent-Length: 2\n\nhi", false},
	{
		"illegal field lines of a response are mended",
		get + "\n", get + "\n",
		"HTTP/1.1 200 OK\nBad-Blank : v\nSecured by magic :\nX: caf\xe9\nno colon\nContent-Length: 2\n\nhi",
		"HTTP/1.1 200 OK\nBad-Blank: v\nX: caf\xe9\nContent-Length: 2\n\nhi", false,
	},
	{
		"a response whose two lengths agree has one",
		get + "\n", get + "\n", "HTTP/1.1 200 OK\nContent-Length: 2\nContent-Length: 2\n\nhi", ok, false,
	},
	{
		"a chunked request stays one, with its trailer",
		post + "Transfer-Encoding: chunked\n\n3\nabc\n2\nde\n0\nX-Sum: 1\n\n",
		post + "Transfer-Encoding: chunked\n\nabcdetrailer X-Sum: 1\n", ok, ok, false,
	},
	{
		"fields that Connection names stay behind in a trailer too",
		post + "Connection: X-Hop\nTransfer-Encoding: chunked\n\n3\nabc\n0\nx-hop: 1\nX-Sum: 1\n\n",
		post + "Transfer-Encoding: chunked\n\nabctrailer X-Sum: 1\n",
		// one byte: more of them are passed on in as many chunks as they come in
		"HTTP/1.1 200 OK\nConnection: X-Hop\nTransfer-Encoding: chunked\n\n1\nh\n0\nx-hop: 1\nX-Sum: 1\n\n",
		"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1\nh\n0\nX-Sum: 1\n\n", false,
	},
	{
		"fields meant for swivel are not passed on in a trailer",
		post + "Transfer-Encoding: chunked\n\n3\nabc\n0\nx-swivel-session: abc\nX-Swivelling: 1\n\n",
		post + "Transfer-Encoding: chunked\n\nabctrailer X-Swivelling: 1\n", ok, ok, false,
	},
	{
		"an HTTP/1.0 client needs no Host and its connection ends",
		"GET http://site.test/ HTTP/1.0\nX-A: 1\n\n", "GET http://site.test/ HTTP/1.1\nHost: site.test\nX-A: 1\n\n",
		ok, "HTTP/1.1 200 OK\nContent-Length: 2\nConnection: close\n\nhi", true,
	},
	{
		"the connection of an HTTP/1.0 client ends although it asks for more",
		"GET http://site.test/ HTTP/1.0\nHost: site.test\nConnection: keep-alive\n\n", get + "\n",
		ok, "HTTP/1.1 200 OK\nContent-Length: 2\nConnection: close\n\nhi", true,
	},
	{
		"an HTTP/1.0 client gets no chunks",
		"GET http://site.test/ HTTP/1.0\nHost: site.test\n\n", get + "\n",
		"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\nabc\n0\n\n", "HTTP/1.1 200 OK\nConnection: close\n\nabc", true,
	},
	{
		"an HTTP/1.0 client cannot expect an interim response",
		"POST http://site.test/ HTTP/1.0\nHost: site.test\nExpect: 100-continue\nContent-Length: 2\n\nhi",
		post + "Content-Length: 2\n\nhi", ok, "HTTP/1.1 200 OK\nContent-Length: 2\nConnection: close\n\nhi", true,
	},
	{
		"a client that wants its connection closed gets that",
		get + "Connection: close\n\n", get + "\n", ok, "HTTP/1.1 200 OK\nContent-Length: 2\nConnection: close\n\nhi", true,
	},
	{
		"a body that ends with the connection",
		get + "\n", get + "\n", "HTTP/1.0 200 OK\nServer: old\n\nabc", "HTTP/1.1 200 OK\nServer: old\nConnection: close\n\nabc", true,
	},
	{
		"an offer to speak another protocol is ignored",
		get + "Connection: Upgrade, HTTP2-Settings\nUpgrade: h2c\nHTTP2-Settings: AAMAAABkAAQAAP__\n\n", get + "\n", ok, ok, false,
	},
	{
		"interim responses are passed on",
		get + "\n", get + "\n",
		"HTTP/1.1 103 Early Hints\nLink: </a>\n\nHTTP/1.1 103 Early Hints\nLink: </b>\n\n" + ok,
		"HTTP/1.1 103 Early Hints\nLink: </a>\n\nHTTP/1.1 103 Early Hints\nLink: </b>\n\n" + ok, false,
	},
	{
		"interim responses are not for HTTP/1.0 clients",
		"GET http://site.test/ HTTP/1.0\nHost: site.test\n\n", get + "\n",
		"HTTP/1.1 103 Early Hints\nLink: </a>\n\n" + ok, "HTTP/1.1 200 OK\nContent-Length: 2\nConnection: close\n\nhi", true,
	},
	{"the site's own 503 is passed on", get + "\n", get + "\n", "HTTP/1.1 503 Busy\nServer: nginx\nContent-Length: 2\n\nhi", "HTTP/1.1 503 Busy\nServer: nginx\nContent-Length: 2\n\nhi", false},
	{"the site's own 403 is passed on", get + "\n", get + "\n", "HTTP/1.1 403 No\nContent-Length: 2\n\nhi", "HTTP/1.1 403 No\nContent-Length: 2\n\nhi", false},
	{"the site's own 429 is passed on", get + "\n", get + "\n", "HTTP/1.1 429 Slow\nRetry-After: 7\nContent-Length: 2\n\nhi", "HTTP/1.1 429 Slow\nRetry-After: 7\nContent-Length: 2\n\nhi", false},
	{"the site's own 401 is passed on", get + "\n", get + "\n", "HTTP/1.1 401 Who\nWWW-Authenticate: Basic realm=\"x\"\nContent-Length: 2\n\nhi", "HTTP/1.1 401 Who\nWWW-Authenticate: Basic realm=\"x\"\nContent-Length: 2\n\nhi", false},
}

// targets are passed on byte for byte.
var targets = []struct{ target, host string }{
	{"http://site.test/{}\\", "site.test"},
	{"http://site.test/a%2Fb%2f%7e", "site.test"},
	{"http://site.test//a/../b/./", "site.test"},
	{"http://site.test/\xc3\xa4?q=\xc3\xb6", "site.test"},
	{"http://site.test/a;b?c[]=|^`\"<>", "site.test"},
	{"HTTP://site.test/", "site.test"},
	{"http://text_example.test/", "text_example.test"},
	{"http://site.test:8080/", "site.test:8080"},
	{"http://site.test?x=1", "site.test"},
	{"http://[::1]:8080/", "[::1]:8080"},
	{"http://site.test/" + strings.Repeat("p", 9000), "site.test"},
}

// crlf gives the line ends of a head, but not those of a body, their CR.
func crlf(message string) string {
	head, body, _ := strings.Cut(message, "\n\n")
	for strings.HasPrefix(head, "HTTP/1.1 1") && strings.HasPrefix(body, "HTTP/1.1 ") {
		more, rest, _ := strings.Cut(body, "\n\n")
		head, body = head+"\n\n"+more, rest
	}
	if strings.Contains(head, "Transfer-Encoding: chunked") {
		body = strings.ReplaceAll(body, "\n", "\r\n")
	}
	return strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body
}

func TestMessagesPassByteForByte(t *testing.T) {
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			inAllDeliveries(t, func(t *testing.T, by delivery) { row.run(t, by) })
		})
	}
}

func (row row) run(t *testing.T, by delivery) {
	head, body, _ := strings.Cut(crlf(row.response), "\r\n\r\n")
	s := serve(t, by, func(p *peer) {
		for {
			request, ok := p.request()
			switch {
			case !ok:
				return
			case strings.Contains(request, "/another"):
				p.send("HTTP/1.1 204 No Content\r\n\r\n", "")
				continue
			}
			p.send(head+"\r\n\r\n", body)
			if strings.HasPrefix(head, "HTTP/1.0") {
				return
			}
		}
	})
	r := newRig(t, limits{}, s.spec())
	c := r.dial()
	c.write(crlf(row.request))
	want := crlf(row.answer)
	if got := c.take(len(want)); got != want {
		t.Errorf("the client got\n%q\nnot\n%q", got, want)
	}
	if got := s.requests()[0]; got != crlf(row.received) {
		t.Errorf("the upstream received\n%q\nnot\n%q", got, crlf(row.received))
	}
	if row.closes {
		c.closes()
	} else {
		c.serves()
	}
	if got := r.verdicts(); got != "response success" {
		t.Errorf("the verdict is %q", got)
	}
}

func TestTargetsPassByteForByte(t *testing.T) {
	s := serve(t, normal, answering("HTTP/1.1 204 No Content\r\n\r\n", ""))
	r := newRig(t, limits{}, s.spec())
	c := r.dial()
	for i, x := range targets {
		c.write("GET " + x.target + " HTTP/1.1\r\nHost: other.test\r\n\r\n")
		c.head()
		want := "GET " + x.target + " HTTP/1.1\r\nHost: " + x.host + "\r\n\r\n"
		if got := s.requests()[i]; got != want {
			t.Errorf("the upstream received\n%q\nnot\n%q", got, want)
		}
	}
}
