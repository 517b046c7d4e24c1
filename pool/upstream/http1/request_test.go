package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func parseRequest(head string) (Request, error) {
	var r Request
	err := r.Parse(head)
	return r, err
}

// statusOf is the status of an *Error, 0 for nil.
func statusOf(t testing.TB, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("%T %v is not an *Error", err, err)
	}
	return e.Status
}

func TestRequestLine(t *testing.T) {
	for _, c := range []struct {
		line   string
		status int // 0: accepted
	}{
		{"GET / HTTP/1.1", 0},
		{"get / HTTP/1.1", 0},
		{"M-SEARCH * HTTP/1.1", 0},
		{"!#$%&'*+-.^_`|~09 / HTTP/1.1", 0},
		{"GET http://a/{}\\%2F|\"<> HTTP/1.1", 0},
		{"GET http://a/\xc3\xa9 HTTP/1.1", 0},
		{"CONNECT a:443 HTTP/1.0", 0},
		{"GET / HTTP/1.7", 0},

		{"", 400},
		{"GET", 400},
		{"GET ", 400},
		{"GET /", 400}, // HTTP/0.9
		{"GET / ", 400},
		{"GET HTTP/1.1", 400},
		{"GET  HTTP/1.1", 400},
		{"GET  / HTTP/1.1", 400},
		{"GET /  HTTP/1.1", 400},
		{"GET / HTTP/1.1 ", 400},
		{"GET /a b HTTP/1.1", 400},
		{" GET / HTTP/1.1", 400},
		{"GET\t/ HTTP/1.1", 400},
		{"GET /\tHTTP/1.1", 400},
		{"GET /a\tb HTTP/1.1", 400},
		{"GET /a\x00b HTTP/1.1", 400},
		{"GET /a\x7fb HTTP/1.1", 400},
		{"GET /a\rb HTTP/1.1", 400},
		{"GET / HTTP/1.1\rHost: a", 400},
		{"GET / HTTP/1.1\r", 400},
		{"G\x00T / HTTP/1.1", 400},
		{"G(T / HTTP/1.1", 400},
		{"GET: / HTTP/1.1", 400},
		{"G\xc9T / HTTP/1.1", 400},
		{"GET / http/1.1", 400},
		{"GET / HTTP/1", 400},
		{"GET / HTTP/1.", 400},
		{"GET / HTTP/1.10", 400},
		{"GET / HTTP/01.1", 400},
		{"GET / HTTP/+1.1", 400},
		{"GET / HTTP/1,1", 400},
		{"GET / HTTP/1.x", 400},
		{"GET / HTTP/x.1", 400},
		{"GET / HTTP 1.1", 400},
		{"GET / HTTPS/1.1", 400},
		{"\x16\x03\x01\x02", 400},
		{"GET / HTTP/0.9", 505},
		{"GET / HTTP/2.0", 505},
		{"PRI * HTTP/2.0", 505},
		{"GET / HTTP/9.9", 505},
	} {
		r, err := parseRequest(c.line + "\r\nHost: a\r\n\r\n")
		if got := statusOf(t, err); got != c.status {
			t.Errorf("%q: status %d, want %d (%v)", c.line, got, c.status, err)
		}
		if line, _, _ := strings.Cut(c.line, " HTTP/"); err == nil && r.Method+" "+r.Target != line {
			t.Errorf("%q was read as %q %q", c.line, r.Method, r.Target)
		}
	}
}

func TestMinorVersion(t *testing.T) {
	for version, want := range map[string]int{"1.0": 0, "1.1": 1, "1.2": 1, "1.9": 1} {
		if r, err := parseRequest("GET / HTTP/" + version + "\r\n\r\n"); err != nil || r.Minor != want {
			t.Errorf("HTTP/%s: minor %d, %v", version, r.Minor, err)
		}
	}
}

func TestRequestFieldLines(t *testing.T) {
	for _, c := range []struct {
		lines string
		want  Fields // nil: refused
	}{
		{"A: b\r\n", Fields{{"A", "b"}}},
		{"A:b\r\n", Fields{{"A", "b"}}},
		{"A: \t b c\t \r\n", Fields{{"A", "b c"}}},
		{"A:\r\n", Fields{{"A", ""}}},
		{"A: b:c\r\n", Fields{{"A", "b:c"}}},
		{"A: b\tc\r\n", Fields{{"A", "b\tc"}}},
		{"A: caf\xe9\r\n", Fields{{"A", "caf\xe9"}}},
		{"sec-ch-ua: x\r\nX-JNLP-Port: 1\r\ncookie: a\r\nHost: h\r\ncookie: b\r\n",
			Fields{{"sec-ch-ua", "x"}, {"X-JNLP-Port", "1"}, {"cookie", "a"}, {"Host", "h"}, {"cookie", "b"}}},

		{"A: b\n", nil}, // bare LF
		{"A: b\nC: d\r\n", nil},
		{"A: b\rC: d\r\n", nil}, // bare CR
		{"A: b\r\r\n", nil},
		{"\r\r\n", nil},
		{"A: b\r\n c\r\n", nil}, // obs-fold
		{"A: b\r\n\tc\r\n", nil},
		{"A: b\r\n \r\n", nil},
		{" A: b\r\n", nil}, // blanks before the first field
		{" \r\nA: b\r\n", nil},
		{"A : b\r\n", nil},
		{"A\t: b\r\n", nil},
		{"A B: c\r\n", nil},
		{": b\r\n", nil},
		{"A\r\n", nil},
		{"A[b: c\r\n", nil},
		{"A\x00: b\r\n", nil},
		{"Transfer-Encoding\x0b: chunked\r\n", nil},
		{"\xc3\xa9: b\r\n", nil},
		{"A: \x00\r\n", nil},
		{"A: b\x00c\r\n", nil},
		{"A: b\x0bc\r\n", nil},
		{"A: \x0cb\r\n", nil},
		{"A: b\x7f\r\n", nil},
		{"A: b\x1b[31m\r\n", nil},
	} {
		r, err := parseRequest("GET / HTTP/1.1\r\n" + c.lines + "\r\n")
		if c.want == nil {
			if statusOf(t, err) != 400 {
				t.Errorf("%q was read as %q, %v", c.lines, r.Fields, err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, r.Fields); err != nil || diff != "" {
			t.Errorf("%q: %v %s", c.lines, err, diff)
		}
	}
}

func TestRequestLineEndsInBareLF(t *testing.T) {
	for _, head := range []string{"GET / HTTP/1.1\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\n", "GET / HTTP/1.1\n\n", "\n\n", "\r\n\r\n"} {
		if _, err := parseRequest(head); statusOf(t, err) != 400 {
			t.Errorf("%q: %v", head, err)
		}
	}
}

func TestRequestWithTooManyFields(t *testing.T) {
	lines := strings.Repeat("A: b\r\n", MaxFields)
	if r, err := parseRequest("GET / HTTP/1.1\r\n" + lines + "\r\n"); err != nil || len(r.Fields) != MaxFields {
		t.Errorf("%d fields: %v", MaxFields, err)
	}
	if _, err := parseRequest("GET / HTTP/1.1\r\n" + lines + "A: b\r\n\r\n"); statusOf(t, err) != 431 {
		t.Errorf("%d fields: %v", MaxFields+1, err)
	}
}

func TestErrorTextQuotesNothing(t *testing.T) {
	for _, head := range []string{
		"SECRET! SECRET HTTP/1.1\r\n\r\n", "(SECRET SECRET HTTP/1.1\r\n\r\n", "GET / HTTP/1.SECRET\r\n\r\n",
		"GET / HTTP/1.1\r\nSECRET: SECRET\x00\r\n\r\n", "GET / HTTP/1.1\r\nSECRET\r\n\r\n", "GET / HTTP/1.1\r\n(SECRET: x\r\n\r\n",
		"GET / HTTP/1.1\r\nContent-Length: SECRET\r\n\r\n", "GET / HTTP/1.1\r\nTransfer-Encoding: SECRET\r\n\r\n",
	} {
		r, err := parseRequest(head)
		if err == nil {
			_, err = r.Framing()
		}
		if err != nil && strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%q: %v", head, err)
		}
	}
}

func TestRefusedRequestKeepsNothingOfTheOneBefore(t *testing.T) {
	var r Request
	if err := r.Parse("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := r.Parse("nonsense\r\n\r\n"); err == nil || r.Method != "" || r.Target != "" || len(r.Fields) != 0 {
		t.Errorf("after %v: %+v", err, r)
	}
	// The method is known although the version is not: HEAD gets no body.
	if err := r.Parse("HEAD / HTTP/3.0\r\n\r\n"); err == nil || r.Method != "HEAD" {
		t.Errorf("after %v: %+v", err, r)
	}
}

func TestRequestKeepAlive(t *testing.T) {
	for _, c := range []struct {
		minor int
		lines string
		want  bool
	}{
		{1, "", true},
		{1, "Connection: keep-alive\r\n", true},
		{1, "Connection: close\r\n", false},
		{1, "Connection: x ,\tClose\r\n", false},
		{1, "Connection: x\r\nconnection: close\r\n", false},
		{1, "Proxy-Connection: close\r\n", false},
		{1, "Connection: closed, clo\u017fe\r\n", true},
		{0, "", false},
		{0, "Connection: keep-alive\r\n", false}, // RFC 9112 section 9.3: not from a proxy
	} {
		r, err := parseRequest(fmt.Sprintf("GET / HTTP/1.%d\r\n%s\r\n", c.minor, c.lines))
		if got := r.KeepAlive(); err != nil || got != c.want {
			t.Errorf("1.%d %q: %v, %v", c.minor, c.lines, got, err)
		}
	}
}

func TestUpgradeNeedsBothFields(t *testing.T) {
	for _, c := range []struct {
		minor int
		lines string
		want  bool
	}{
		{1, "Connection: Upgrade\r\nUpgrade: websocket\r\n", true},
		{1, "connection: keep-alive, upgrade\r\nupgrade: WebSocket\r\n", true},
		{1, "Connection: Upgrade\r\nUpgrade: websocket, foo\r\n", true},
		{1, "Connection: Upgrade\r\nUpgrade: h2c\r\nUpgrade: foo ,websocket\r\n", true},
		{1, "Connection: Upgrade\r\nUpgrade: h2c, websocket/13\r\n", false},
		{1, "Upgrade: websocket\r\n", false},
		{1, "Connection: Upgrade\r\n", false},
		{0, "Connection: Upgrade\r\nUpgrade: websocket\r\n", false},
	} {
		r, err := parseRequest(fmt.Sprintf("GET / HTTP/1.%d\r\n%s\r\n", c.minor, c.lines))
		if got := r.Upgrades("websocket"); err != nil || got != c.want {
			t.Errorf("1.%d %q: %v, %v", c.minor, c.lines, got, err)
		}
	}
}

// tokens, targets and values are the legal parts of heads.
var (
	tokens  = rapid.StringMatching("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}")
	targets = rapid.StringMatching("[!-~]{1,60}")
	values  = rapid.StringMatching("([!-~]([ \t!-~]{0,40}[!-~])?)?")
)

func drawFields(t *rapid.T) Fields {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Field {
		return Field{tokens.Draw(t, "name"), values.Draw(t, "value")}
	}), 0, 30).Draw(t, "fields")
}

func TestRequestOfLegalPartsParsesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Request{Method: tokens.Draw(t, "method"), Target: targets.Draw(t, "target"), Minor: 1, Fields: drawFields(t)}
		head := AppendRequestLine(nil, want.Method, want.Target)
		head = append(want.Fields.Append(head), "\r\n"...)
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		text, rest, err := readAll(bufio.NewReaderSize(bytes.NewReader(append(head, body...)), 64), 1<<20)
		if err != nil || rest != string(body) {
			t.Fatalf("body %q, %v", rest, err)
		}
		got, err := parseRequest(text)
		if err != nil || !sameRequest(got, want) {
			t.Fatalf("%+v, %v", got, err)
		}
	})
}

func sameRequest(a, b Request) bool {
	return a.Method == b.Method && a.Target == b.Target && a.Minor == b.Minor && slices.Equal(a.Fields, b.Fields)
}

func FuzzRequest(f *testing.F) {
	for _, lines := range []string{
		"", "Content-Length: 5\r\n", "Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5\r\nContent-Length: 6\r\n",
		"Transfer-Encoding: chunked\r\n", "Transfer-Encoding: chun\u212aed\r\n", "Content-Length: 5, 5\r\n", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
		"Transfer-Encoding:\r\n chunked\r\n", "Content-Length : 5\r\n", "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
		"Content-Length: \r\n", "Content-Length: 007\r\n", "Connection: Content-Length, close\r\nContent-Length: 1\r\n", "Trailer: x\r\nTransfer-Encoding: CHUNKED\r\n",
	} {
		f.Add([]byte("POST http://a/b HTTP/1.1\r\nHost: a\r\n" + lines + "\r\nhello"))
	}
	f.Add([]byte("CONNECT a:443 HTTP/1.0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		head, err := ReadHead(bufio.NewReader(bytes.NewReader(text)), 64<<10)
		if err != nil {
			return
		}
		r, err := parseRequest(head)
		if statusOf(t, err) != 0 {
			return
		}
		framing, ferr := r.Framing()
		if statusOf(t, ferr) == 0 {
			agreesWithNetHTTP(t, text, framing)
		}
		parsesBack(t, r, framing, ferr)
	})
}

// parsesBack writes the request and reads it again.
func parsesBack(t *testing.T, r Request, framing Framing, ferr error) {
	t.Helper()
	again, err := parseRequest(string(append(r.Fields.Append(AppendRequestLine(nil, r.Method, r.Target)), "\r\n"...)))
	minor := r.Minor
	r.Minor = 1 // as which it is sent on
	if err != nil || !sameRequest(r, again) {
		t.Fatalf("%+v became %+v, %v", r, again, err)
	}
	if minor == 0 && ferr != nil { // Transfer-Encoding is no error any more
		return
	}
	got, err := again.Framing()
	if got != framing || statusOf(t, err) != statusOf(t, ferr) {
		t.Fatalf("framing %+v, %v became %+v, %v", framing, ferr, got, err)
	}
	passed, err := (&Request{Minor: 1, Fields: r.Fields.EndToEnd(nil, framing)}).Framing()
	if ferr == nil && (passed != framing || err != nil) {
		t.Fatalf("framing %+v is passed on as %+v, %v", framing, passed, err)
	}
}

// agreesWithNetHTTP fails if net/http too accepts the head and sees the end of
// the body elsewhere.
func agreesWithNetHTTP(t *testing.T, text []byte, f Framing) {
	t.Helper()
	theirs, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(text)))
	if err != nil {
		return
	}
	length := f.Length
	if f.Kind == Chunked {
		length = -1
	}
	if theirs.ContentLength != length || (len(theirs.TransferEncoding) > 0) != (f.Kind == Chunked) {
		t.Errorf("%+v, but net/http: length %d, coding %q", f, theirs.ContentLength, theirs.TransferEncoding)
	}
}

const connectHead = "CONNECT shop.example.com:443 HTTP/1.1\r\nHost: shop.example.com:443\r\nProxy-Connection: keep-alive\r\n" +
	"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36\r\n" +
	"Proxy-Authorization: Basic c2NyYXBlci1zZXNzaW9uLTE6c2VjcmV0\r\n\r\n"

const browserHead = "GET http://shop.example.com/search?q=shoes&page=2 HTTP/1.1\r\nHost: shop.example.com\r\nProxy-Connection: keep-alive\r\n" +
	"Cache-Control: max-age=0\r\nUpgrade-Insecure-Requests: 1\r\n" +
	"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36\r\n" +
	"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n" +
	"Referer: http://shop.example.com/\r\nAccept-Encoding: gzip, deflate\r\nAccept-Language: en-US,en;q=0.9\r\n" +
	"Cookie: session=0123456789abcdef0123456789abcdef; consent=all; ab=17\r\n\r\n"

func TestReadingAHeadCostsOneString(t *testing.T) {
	for _, head := range []string{connectHead, browserHead} {
		var r headReader
		r.read(t, head)
		if n := testing.AllocsPerRun(100, func() { r.read(t, head) }); n > 1 {
			t.Errorf("%v allocations for %.20q", n, head)
		}
	}
}

func TestFirstRequestTakesItsFieldsAtOnce(t *testing.T) {
	n := testing.AllocsPerRun(100, func() {
		if _, err := parseRequest(browserHead); err != nil {
			t.Fatal(err)
		}
	})
	if n > 1 {
		t.Errorf("%v allocations", n)
	}
}

// headReader reads requests the way a kept-alive connection does.
type headReader struct {
	in  strings.Reader
	br  bufio.Reader
	req Request
}

func (r *headReader) read(tb testing.TB, text string) {
	r.in.Reset(text)
	r.br.Reset(&r.in)
	head, err := ReadHead(&r.br, 64<<10)
	if err == nil {
		err = r.req.Parse(head)
	}
	if err == nil {
		_, err = r.req.Framing()
	}
	if err != nil {
		tb.Fatal(err)
	}
}

func BenchmarkRequestParse(b *testing.B) {
	for _, c := range []struct{ name, head string }{{"connect", connectHead}, {"browser", browserHead}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.head)))
			var r headReader
			for b.Loop() {
				r.read(b, c.head)
			}
		})
	}
}
