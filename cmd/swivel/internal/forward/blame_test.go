package forward_test

import (
	"strings"
	"testing"

	"swivel/breaker"
	"swivel/pool"
	"swivel/pool/upstream/listentest"
)

// ownPages are what a proxy itself answers, and what becomes of it when it is
// the only one.
var ownPages = []struct {
	name, page string
	verdict    string
	state      breaker.State
}{
	{
		"wrong credentials",
		"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"secret\"\r\nContent-Length: 2\r\n\r\nno",
		"handshake_auth refused", breaker.Open,
	},
	{
		"wrong credentials, as tinyproxy says it",
		"HTTP/1.0 401 Unauthorized\r\nServer: tinyproxy/1.11.1\r\nContent-Length: 2\r\n\r\nno",
		"handshake_auth refused", breaker.Open,
	},
	{
		"cannot connect",
		"HTTP/1.1 503 Service Unavailable\r\nServer: squid/6.6\r\nX-Squid-Error: ERR_CONNECT_FAIL 111\r\nContent-Length: 2\r\n\r\nno",
		"handshake_gateway ignored", breaker.Closed,
	},
	{
		"bad gateway",
		"HTTP/1.1 502 Bad Gateway\r\nServer: squid/6.6\r\nX-Squid-Error: ERR_READ_ERROR 104\r\nContent-Length: 2\r\n\r\nno",
		"handshake_gateway ignored", breaker.Closed,
	},
	{
		"a request that did not reach it in time",
		"HTTP/1.1 408 Request Timeout\r\nServer: squid/6.6\r\nX-Squid-Error: ERR_LIFETIME_EXP 0\r\nContent-Length: 2\r\n\r\nno",
		"handshake_gateway ignored", breaker.Closed,
	},
	{
		"too many requests",
		"HTTP/1.1 429 Slow down\r\nServer: squid/6.6\r\nX-Squid-Error: ERR_LIMIT 0\r\nRetry-After: 60\r\nContent-Length: 2\r\n\r\nno",
		"handshake_throttled throttled", breaker.Open,
	},
}

func TestOwnPageOfAProxyIsNotShownAndAnotherProxyServes(t *testing.T) {
	for _, x := range ownPages {
		t.Run(x.name, func(t *testing.T) {
			inAllDeliveries(t, func(t *testing.T, by delivery) {
				bad := serve(t, by, answering(x.page, ""))
				good := serve(t, by, answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "hi"))
				r := newRig(t, limits{}, bad.spec(), good.spec())
				c := r.dial()
				for i := range 1000 {
					c.write(crlf(get + "\n"))
					if head, body := c.response(); status(head) != "200" || body != "hi" {
						t.Fatalf("request %d: the client got %q %q", i, head, body)
					}
					if bad.connections() > 0 {
						break
					}
				}
				bad.waitClosed()
				if bad.connections() == 0 {
					t.Fatal("the bad proxy was never tried")
				}
			})
		})
	}
}

func TestOwnPageOfAProxyIsNotRepeatedForAPOST(t *testing.T) {
	for _, x := range ownPages {
		t.Run(x.name, func(t *testing.T) {
			s := serve(t, normal, answering(x.page, ""))
			r := newRig(t, limits{}, s.spec())
			c := r.dial()
			c.write(crlf(post+"Content-Length: 2\n\n") + "hi")
			c.refused("502", "attempts_spent")
			if got := r.verdicts(); got != x.verdict {
				t.Errorf("the verdict is %q", got)
			}
			if got := r.state(0); got != x.state {
				t.Errorf("the breaker is %v", got)
			}
			if n := len(s.requests()); n != 1 {
				t.Errorf("the proxy got the POST %d times", n)
			}
		})
	}
}

// What the pool's proxies want is nothing that a client could answer.
func TestRefusalSaysNothingAboutTheProxies(t *testing.T) {
	s := serve(t, normal, answering(ownPages[0].page, ""))
	p := s.spec()
	p.User, p.Password, p.HasAuth = "user", "s3cret", true
	r := newRig(t, limits{}, p)
	c := r.dial()
	c.write(crlf(get + "\n"))
	head, body := c.response()
	told := strings.ReplaceAll(head+body, field(head, "X-Request-Id"), "ID") // any number may stand in that
	for _, secret := range []string{"s3cret", "user", "dXNlcjpzM2NyZXQ=", "127.0.0.1", "realm", "407"} {
		if strings.Contains(told, secret) {
			t.Errorf("the refusal holds %q: %q", secret, told)
		}
	}
	if !strings.Contains(s.requests()[0], "\r\nProxy-Authorization: Basic dXNlcjpzM2NyZXQ=\r\n") {
		t.Errorf("the upstream received %q", s.requests()[0])
	}
}

func TestExhaustedPoolIsNotAskedAgain(t *testing.T) {
	s := serve(t, normal, answering(ownPages[0].page, ""))
	r := newRig(t, limits{}, s.spec())
	c := r.dial()
	c.write(crlf(get + "\n"))
	c.refused("502", "attempts_spent")
	before := len(s.requests())
	for range 3 {
		c := r.dial()
		c.write(crlf(get + "\n"))
		head := c.head()
		if status(head) != "503" || field(head, "Retry-After") == "" || field(head, "Retry-After") == "0" {
			t.Errorf("the client got %q", head)
		}
	}
	if n := len(s.requests()); n != before {
		t.Errorf("an open proxy was asked %d times more", n-before)
	}
}

// No proxy means no service, never a direct connection.
func TestTargetIsNeverReachedDirectly(t *testing.T) {
	site := serve(t, normal, answering("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n", "direct"))
	for name, specs := range map[string][]*pool.Spec{
		"empty pool":   nil,
		"dead proxy":   {spec(pool.HTTP, listentest.Reserved(t, "127.0.0.1"))},
		"dead SOCKS":   {spec(pool.SOCKS5, listentest.Reserved(t, "127.0.0.1"))},
		"many of them": {spec(pool.HTTP, listentest.Reserved(t, "127.0.0.1")), spec(pool.HTTPS, listentest.Reserved(t, "127.0.0.1")), spec(pool.SOCKS4, listentest.Reserved(t, "127.0.0.1"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HTTP_PROXY", "http://"+site.addr.String())
			t.Setenv("http_proxy", "http://"+site.addr.String())
			r := newRig(t, limits{}, specs...)
			for _, upgrade := range []string{"", "Connection: Upgrade\nUpgrade: websocket\n"} {
				c := r.dial()
				c.write(strings.ReplaceAll(crlf(get+upgrade+"\n"), "site.test", site.addr.String()))
				if head, _ := c.response(); status(head) != "502" && status(head) != "503" {
					t.Errorf("the client got %q", head)
				}
			}
		})
	}
	if n := site.connections(); n != 0 {
		t.Errorf("%d direct connections", n)
	}
}
