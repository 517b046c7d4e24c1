package front

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// checkRefusal wants all that a client may look at, whatever part of a refused
// CONNECT it keeps.
func checkRefusal(t *testing.T, resp *http.Response, body, code string) {
	t.Helper()
	phrase := strings.TrimPrefix(resp.Status, strconv.Itoa(resp.StatusCode)+" ")
	for name, ok := range map[string]bool{
		"status phrase with the reason": strings.Contains(body, phrase) && phrase != http.StatusText(resp.StatusCode),
		"body of one line":              strings.HasPrefix(body, "swivel: ") && strings.Count(body, "\n") == 1,
		"Content-Length":                resp.ContentLength == int64(len(body)) && len(body) > 0,
		"Proxy-Status":                  strings.HasPrefix(resp.Header.Get("Proxy-Status"), "swivel; error="),
		"X-Swivel-Error":                resp.Header.Get("X-Swivel-Error") == code,
		"X-Request-Id":                  len(resp.Header.Get("X-Request-Id")) == 16 && strings.Contains(body, resp.Header.Get("X-Request-Id")),
		"Connection: close":             resp.Close,
	} {
		if !ok {
			t.Errorf("the refusal lacks its %s: %s %v %q", name, resp.Status, resp.Header, body)
		}
	}
	for _, secret := range []string{"127.0.0.1", "s3cret", "user1", "dXNlcjE6czNjcmV0", "connect:", "refused"} {
		if strings.Contains(resp.Status+body, secret) {
			t.Errorf("the refusal shows %q: %s %q", secret, resp.Status, body)
		}
	}
}

func TestRefusalTellsWhyEverywhere(t *testing.T) {
	throttled := "HTTP/1.1 429 Slow\r\nRetry-After: 60\r\n\r\n"
	for _, test := range []struct {
		name    string
		script  func(*peer)
		status  int
		code    string
		retries bool
	}{
		{"dead port", nil, 502, "attempts_spent", false},
		{"garbage", answers("220 smtp ready\r\n"), 502, "attempts_spent", false},
		{"407", answers("HTTP/1.1 407 Auth\r\nProxy-Authenticate: Basic realm=\"vendor\"\r\n\r\n"), 502, "attempts_spent", false},
		{"502", answers("HTTP/1.1 502 Bad\r\n\r\n"), 502, "attempts_spent", false},
		{"silent", silent, 504, "timeout", false},
		{"throttled", answers(throttled), 502, "attempts_spent", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.timeouts.Handshake = 50 * time.Millisecond
			r.attempts.Attempts = 2
			addr := ""
			if test.script == nil {
				addr = r.closedPort()
			} else {
				addr = r.proxy(test.script).addr()
			}
			r.start("http://user1:s3cret@" + addr)
			c := r.dial()
			c.send(connectHead(target))
			resp, body := c.reply()
			if resp.StatusCode != test.status {
				t.Errorf("status %s", resp.Status)
			}
			checkRefusal(t, resp, body, test.code)
			if resp.Header.Get("Proxy-Authenticate") != "" {
				t.Error("the vendor's challenge reached the client")
			}
			c.expectEnd()
			if log := r.log.String(); strings.Contains(log, "s3cret") || strings.Contains(log, "dXNlcjE6") {
				t.Errorf("credentials in the log: %s", log)
			}
		})
	}
}

func TestNobodyAvailableIsToldAtOnceWithATime(t *testing.T) {
	r := newRig(t)
	refuses := r.proxy(answers("HTTP/1.1 407 Auth\r\n\r\n"))
	r.start(refuses.addr())
	c := r.dial()
	c.send(connectHead(target))
	c.wants(502)
	for range 3 {
		began := time.Now()
		c := r.dial()
		c.send(connectHead(target))
		resp, body := c.reply()
		checkRefusal(t, resp, body, "no_proxy")
		if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); resp.StatusCode != 503 || err != nil || s < 1 || s > 60 {
			t.Errorf("%s, Retry-After %q", resp.Status, resp.Header.Get("Retry-After"))
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("told after %v", took)
		}
	}
	if n, _ := refuses.asked(); n != 1 {
		t.Errorf("the resting proxy was asked %d times", n)
	}
}

func TestMalformedTargetsTouchNoProxy(t *testing.T) {
	r := newRig(t)
	p := r.proxy(tunnels)
	r.start(p.addr())
	for _, bad := range []string{
		"example.test", "example.test:", "example.test:0", "example.test:65536", "example.test:-1", "example.test:http",
		"u@example.test:443", "http://example.test:443/", "/", "*", ":443", "[::1]", "[fe80::1%25eth0]:443", "::1:443",
		"ex%41mple.test:443", "a,b:443",
	} {
		c := r.dial()
		c.send("CONNECT " + bad + " HTTP/1.1\r\nHost: x\r\n\r\nunread bytes")
		resp, body := c.reply()
		if resp.StatusCode != 400 {
			t.Errorf("%s: status %s", bad, resp.Status)
		}
		checkRefusal(t, resp, body, "bad_request")
		c.expectEnd()
	}
	if all, _ := p.accepted(); all != 0 || !r.untouched(0) {
		t.Errorf("the proxy saw %d connections", all)
	}
}

func TestRefusalSurvivesInputThatNobodyReads(t *testing.T) {
	r := newRig(t)
	r.start(r.closedPort())
	for _, head := range []string{connectHead(target), connectHead("example.test"), "BAD\r\n\r\n"} {
		c := r.dial()
		// More than the buffers between the two: the client can only get rid of it
		// if it is read.
		if err := c.tcp.SetWriteBuffer(64 << 10); err != nil {
			t.Fatal(err)
		}
		c.send(head + strings.Repeat("x", 1<<20))
		_ = c.CloseWrite()
		b, err := io.ReadAll(c.br)
		if err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 ") || !strings.HasSuffix(string(b), ")\n") {
			t.Errorf("%.20q: %q, %v", head, b, err)
		}
	}
}

// The log used to have 0 ms for all that was refused, also when the check of a password
// had taken its time.
func TestRefusalIsLoggedWithItsTime(t *testing.T) {
	r := newRig(t)
	r.users = []string{"user1:s3cret"}
	r.start("127.0.0.1:1")
	r.dial().send(connectWith(basic("user1:wrong")))
	if x := r.logged(1); x.Code != "auth_required" || x.Took <= 0 {
		t.Errorf("%+v", x)
	}
}
