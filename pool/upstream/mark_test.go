package upstream

import (
	"testing"

	"swivel/pool/upstream/http1"
)

func parseFields(t *testing.T, lines string) http1.Fields {
	t.Helper()
	var r http1.Response
	if err := r.Parse("HTTP/1.1 502 Bad Gateway\r\n" + lines + "\r\n"); err != nil {
		t.Fatal(err)
	}
	return r.Fields
}

func TestProxyMarks(t *testing.T) {
	for name, head := range map[string]string{
		"tinyproxy, wrong password": "Server: tinyproxy/1.11.1\r\nContent-Type: text/html\r\nWWW-Authenticate: Basic realm=\"Tinyproxy\"\r\nConnection: close\r\n",
		"squid":                     "Server: squid/6.6\r\nMime-Version: 1.0\r\nDate: Sun, 01 Mar 2026 12:00:00 GMT\r\nX-Squid-Error: ERR_CONNECT_FAIL 111\r\nVia: 1.1 host (squid/6.6)\r\n",
		"squid without a code":      "Server: squid\r\nDate: Sun, 01 Mar 2026 12:00:00 GMT\r\n",
		"3proxy":                    "Proxy-Connection: close\r\nContent-type: text/html; charset=utf-8\r\n",
		"a 407":                     "Proxy-Authenticate: Basic realm=\"x\"\r\nServer: nginx\r\n",
		"gost":                      "Proxy-Agent: gost/2.11\r\nContent-Length: 0\r\n",
		"RFC 9209":                  "Proxy-Status: swivel; error=connection_timeout\r\nDate: Sun, 01 Mar 2026 12:00:00 GMT\r\n",
		"Via and nothing else":      "Via: 1.1 exit\r\nContent-Length: 12\r\nContent-Type: text/plain\r\n",
	} {
		if !HasProxyMark(parseFields(t, head)) {
			t.Errorf("%s: no mark", name)
		}
	}
}

// TestOriginsBearNoProxyMark: a site's own error must not be held against the
// proxy that fetched it.
func TestOriginsBearNoProxyMark(t *testing.T) {
	for name, head := range map[string]string{
		"nothing":                    "",
		"nginx":                      "Server: nginx\r\nDate: Sun, 01 Mar 2026 12:00:00 GMT\r\nContent-Type: text/html\r\nContent-Length: 150\r\nConnection: keep-alive\r\n",
		"nginx through tinyproxy":    "Via: 1.1 tinyproxy (tinyproxy/1.11.1)\r\nServer: nginx\r\nDate: Sun, 01 Mar 2026 12:00:00 GMT\r\n",
		"net/http through tinyproxy": "Via: 1.1 tinyproxy (tinyproxy/1.11.1)\r\nDate: Sun, 01 Mar 2026 12:00:00 GMT\r\nContent-Length: 4\r\nContent-Type: text/plain\r\n",
		"haproxy through tinyproxy":  "Via: 1.0 tinyproxy (tinyproxy/1.11.1)\r\nCache-Control: no-cache\r\nContent-Type: text/html\r\n",
		"cloudfront":                 "Server: CloudFront\r\nDate: Sun, 01 Mar 2026 12:00:00 GMT\r\nX-Cache: Error from cloudfront\r\nVia: 1.1 a.cloudfront.net (CloudFront)\r\n",
		"varnish":                    "Server: Varnish\r\nRetry-After: 0\r\nVia: 1.1 varnish\r\nContent-Length: 450\r\n",
		"google":                     "Content-Type: text/html\r\nReferrer-Policy: no-referrer\r\nVia: 1.1 google\r\nContent-Length: 332\r\n",
		"heroku":                     "Server: Cowboy\r\nConnection: close\r\nContent-Length: 506\r\nVia: 1.1 vegur\r\n",
		"Proxy-Status of a cache":    "Proxy-Status: cdn; received-status=503\r\nServer: nginx\r\n",
		"a proxy that stamps all":    "Proxy-Agent: Sun-Java-System-Web-Proxy-Server/4.0\r\nServer: Apache\r\n",
		"a site's own 401":           "WWW-Authenticate: Basic realm=\"site\"\r\nServer: Apache\r\nVia: 1.1 exit (squid/6.6)\r\n",
		"a server with a name alike": "Server: squidward/1.0\r\n",
	} {
		if HasProxyMark(parseFields(t, head)) {
			t.Errorf("%s: taken for the proxy's own", name)
		}
	}
}
