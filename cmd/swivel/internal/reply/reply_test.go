package reply

import (
	"bufio"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"swivel/pool/upstream/http1"

	"swivel/pool"
)

// row is a refusal and what it has to say.
type row struct {
	name   string
	err    *Error
	status int
	code   string
	retry  string // Retry-After
}

// every refusal that there is.
var every = []row{
	{"bad request", BadRequest(400, "the target has no host"), 400, "bad_request", ""},
	{"parser", FromHTTP(&http1.Error{Status: 505, Text: "only HTTP/1.0 and HTTP/1.1 are spoken here"}), 505, "bad_request", ""},
	{"bad routing key", BadRoutingKey("unknown routing key contry"), 400, "bad_routing_key", ""},
	{"no credentials", AuthRequired("a user name and a password are wanted"), 407, "auth_required", ""},
	{"rate limited", RateLimited(2300 * time.Millisecond), 429, "rate_limited", "3"},
	{"rate limited, a moment", RateLimited(time.Millisecond), 429, "rate_limited", "1"},
	{"denied", TargetDenied("this target is not allowed here"), 403, "target_denied", ""},
	{"loop", Loop("the target is swivel itself"), 508, "loop", ""},
	{"one proxy tried", AttemptsSpent([]pool.Signal{pool.HandshakeAuth}), 502, "attempts_spent", ""},
	{"several proxies tried", AttemptsSpent([]pool.Signal{pool.DialRefused, pool.DialRefused, pool.HandshakeGateway}), 502, "attempts_spent", ""},
	{"not repeatable", AttemptsSpent([]pool.Signal{pool.ResponseClosed}).NotRepeatable(), 502, "attempts_spent", ""},
	{"not repeatable, in time", Timeout(1).NotRepeatable(), 504, "timeout", ""},
	{"target down", TargetDown(), 502, "target_down", ""},
	{"target asks for a password", TargetAuth(), 502, "target_auth", ""},
	{"timeout", Timeout(3), 504, "timeout", ""},
	{"no proxy, now", NoProxy(0), 503, "no_proxy", "1"},
	{"no proxy, soon", NoProxy(time.Nanosecond), 503, "no_proxy", "1"},
	{"no proxy, later", NoProxy(1500 * time.Millisecond), 503, "no_proxy", "2"},
	{"no proxy, before", NoProxy(-time.Hour), 503, "no_proxy", "1"},
	{"none of the kind", NoneOfKind(0), 503, "no_proxy", "1"},
	{"not its proxy", NotItsProxy(0), 503, "no_proxy", "1"},
	{"no match", NoMatch([]string{"country", "city"}), 503, "no_proxy", "60"},
	{"kept away", KeptAway(5 * time.Minute), 503, "no_proxy", "300"},
	{"over capacity", OverCapacity(), 503, "over_capacity", "1"},
	{"too many connections", TooManyConnections(), 503, "over_capacity", "1"},
	{"too many logins", TooManyLogins(), 503, "over_capacity", "1"},
}

func TestRefusalsAreCompleteResponses(t *testing.T) {
	for _, x := range every {
		for _, method := range []string{"GET", "HEAD", "POST", "CONNECT", ""} {
			t.Run(x.name+" "+method, func(t *testing.T) {
				text := string(x.err.Append([]byte("behind"), "0123456789abcdef", method))
				text, ok := strings.CutPrefix(text, "behind")
				if !ok {
					t.Fatal("what was there before is gone")
				}
				br := bufio.NewReader(strings.NewReader(text))
				// A refused CONNECT has a body as any other response.
				resp, err := http.ReadResponse(br, &http.Request{Method: strings.Replace(method, "CONNECT", "GET", 1)})
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(resp.Body)
				if err != nil || br.Buffered() > 0 {
					t.Errorf("Content-Length is wrong: %v, %d bytes too many", err, br.Buffered())
				}
				x.check(t, resp, method, string(body))
			})
		}
	}
}

func (x row) check(t *testing.T, resp *http.Response, method, body string) {
	t.Helper()
	phrase, text := http.StatusText(x.status), "swivel: "+x.err.Text+" ("+x.code+", request 0123456789abcdef)\n"
	if method == "CONNECT" { // clients drop the body
		phrase = x.err.Text
	}
	if method == "HEAD" {
		if resp.ContentLength != int64(len(text)) {
			t.Errorf("the length is %d", resp.ContentLength)
		}
		text = ""
	}
	challenge := "" // RFC 9110 section 15.5.8 wants one with every 407
	if x.status == 407 {
		challenge = `Basic realm="swivel"`
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Proxy-Status"), "=")
	for _, c := range []struct{ what, got, want string }{
		{"status", resp.Status, strconv.Itoa(x.status) + " " + phrase},
		{"body", body, text},
		{"Content-Type", resp.Header.Get("Content-Type"), "text/plain; charset=utf-8"},
		{"Proxy-Status", kind, "swivel; error"},
		{"X-Swivel-Error", resp.Header.Get("X-Swivel-Error"), x.code},
		{"X-Request-Id", resp.Header.Get("X-Request-Id"), "0123456789abcdef"},
		{"Proxy-Authenticate", resp.Header.Get("Proxy-Authenticate"), challenge},
		{"Retry-After", resp.Header.Get("Retry-After"), x.retry},
	} {
		if c.got != c.want {
			t.Errorf("%s is %q, not %q", c.what, c.got, c.want)
		}
	}
	if !resp.Close || len(resp.Header) > 7 {
		t.Errorf("closes: %v, fields: %v", resp.Close, resp.Header)
	}
}

func TestAReplyMayLeaveTheConnectionOpen(t *testing.T) {
	e := AuthRequired("a user name and a password are wanted")
	open, closed := string(e.AppendOpen(nil, "id", "GET")), string(e.Append(nil, "id", "GET"))
	if strings.Replace(closed, "Connection: close\r\n", "", 1) != open || open == closed {
		t.Errorf("%q and %q", open, closed)
	}
}

// What stands in a status line must not be able to end it.
func TestTextsAreOneLine(t *testing.T) {
	for _, x := range every {
		if x.err.Text == "" || strings.ContainsFunc(x.err.Text, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%s: the text is %q", x.name, x.err.Text)
		}
		if got := x.err.Error(); got != x.code+": "+x.err.Text {
			t.Errorf("%s: as an error it is %q", x.name, got)
		}
	}
}

func TestTheTextSaysWhatTheAttemptsRanInto(t *testing.T) {
	for want, tried := range map[string][]pool.Signal{
		"1 attempt failed: 1 had the credentials in the list rejected by the proxy":                  {pool.HandshakeAuth},
		"3 attempts failed: 2 could not connect to the proxy, 1 did not reach the target":            {pool.DialRefused, pool.HandshakeGateway, pool.DialTLS},
		"2 attempts failed: 1 got no answer in time, 1 got no sensible answer from the proxy":        {pool.TunnelSilent, pool.HandshakeGarbage},
		"2 attempts failed: 1 met a proxy that hung up, 1 met a proxy that wants a pause":            {pool.HandshakeClosed, pool.HandshakeThrottled},
		"2 attempts failed: 1 failed on this machine, 1 met a proxy that does not serve this target": {pool.LocalFault, pool.HandshakeDenied},
	} {
		if got := AttemptsSpent(tried).Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	once := AttemptsSpent([]pool.Signal{pool.HandshakeAuth})
	if got := once.NotRepeatable().Text; got != once.Text+"; the request was sent, and it is not safe to repeat" {
		t.Errorf("%q", got)
	}
	if got := Timeout(1).Text; got != "1 attempt, none answered in time" {
		t.Errorf("%q", got)
	}
}

func TestProxyStatusSaysWhatAllAttemptsRanInto(t *testing.T) {
	for want, tried := range map[string][][]pool.Signal{
		"proxy_configuration_error": {{pool.HandshakeAuth}, {pool.HandshakeAuth, pool.HandshakeAuth}},
		"connection_terminated":     {{pool.ResponseClosed}, {pool.ResponseCut, pool.ResponseClosed}},
		"destination_unavailable":   {nil, {pool.TargetNamed}, {pool.HandshakeAuth, pool.DialRefused}, {pool.ResponseClosed, pool.HandshakeAuth}},
	} {
		for _, signals := range tried {
			if got := AttemptsSpent(signals).NotRepeatable().proxyStatus; got != want {
				t.Errorf("%v: %q, want %q", signals, got, want)
			}
		}
	}
}
