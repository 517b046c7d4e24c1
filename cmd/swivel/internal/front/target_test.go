package front

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"swivel/cmd/swivel/internal/reply"
	"swivel/pool/upstream/http1"
)

func TestConnectTargetsThatAreTaken(t *testing.T) {
	for in, want := range map[string]string{
		"example.test:443":              "example.test:443",
		"EXAMPLE.test.:1":               "EXAMPLE.test.:1",
		"under_score.test:65535":        "under_score.test:65535",
		"127.0.0.1:00080":               "127.0.0.1:00080",
		"[2001:db8::1]:443":             "[2001:db8::1]:443",
		"[::ffff:192.0.2.1]:443":        "[::ffff:192.0.2.1]:443",
		"b\xc3\xbccher.test:443":        "b\xc3\xbccher.test:443",
		strings.Repeat("a", 255) + ":1": strings.Repeat("a", 255) + ":1",
	} {
		if got, refused := connectTarget(in); refused != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, refused)
		}
	}
}

func TestConnectTargetsThatAreRefused(t *testing.T) {
	for _, in := range []string{
		"", ":", ":443", "example.test", "example.test:", "example.test:0", "example.test:65536", "example.test:+80",
		"example.test:-1", "example.test: 80", "example.test:8o", "example.test:000080", "example.test:80:80",
		"example.test:80/", "example.test:80?x", "example.test:80#x", "http://example.test:80", "//example.test:80",
		"user@example.test:80", "user:pw@example.test:80", "example.test@:80",
		"2001:db8::1:443", "::1", "[::1]", "[::1]:", "[::1]:0", "[::1]x:80", "[::1:80", "[]:80", "[127.0.0.1]:80",
		"[fe80::1%eth0]:80", "[fe80::1%25eth0]:80", "[example.test]:80", "[v1.x]:80", "[[::1]]:80", "::1]:80",
		"a b:80", "a\tb:80", "a\x00b:80", "a\x7fb:80", "a\\b:80", "a,b:80", "a;b:80", "a\"b:80", "a%00b:80", "a<b:80",
		strings.Repeat("a", 256) + ":1",
	} {
		if got, refused := connectTarget(in); refused == nil || refused.Status != 400 {
			t.Errorf("%q was taken as %q, %v", in, got, refused)
		}
	}
}

func TestAbsoluteTargetsAreSplitWithoutBeingRewritten(t *testing.T) {
	for _, test := range []struct{ method, target, authority, host, origin string }{
		{"GET", "http://example.test/", "example.test:80", "example.test", "/"},
		{"GET", "http://example.test", "example.test:80", "example.test", "/"},
		{"GET", "HTTP://Example.Test:80/a", "Example.Test:80", "Example.Test:80", "/a"},
		{"GET", "http://example.test:/a", "example.test:80", "example.test", "/a"},
		{"GET", "http://example.test:8080?q", "example.test:8080", "example.test:8080", "/?q"},
		{"GET", "ws://example.test/x", "example.test:80", "example.test", "/x"},
		{"GET", "http://[::1]:8/{}\\%2F", "[::1]:8", "[::1]:8", "/{}\\%2F"},
		{"GET", "http://example.test/http://u@other.test:9/", "example.test:80", "example.test", "/http://u@other.test:9/"},
		{"OPTIONS", "http://example.test", "example.test:80", "example.test", "*"},
		{"OPTIONS", "http://example.test/", "example.test:80", "example.test", "/"},
	} {
		got, refused := absoluteTarget(&http1.Request{Method: test.method, Target: test.target})
		if refused != nil || got != (plainTarget{test.authority, test.host, test.origin}) {
			t.Errorf("%s: %+v, %v", test.target, got, refused)
		}
	}
}

func TestOtherFormsOfTargetsAreRefused(t *testing.T) {
	for target, hint := range map[string]string{
		"/": "absolute", "*": "absolute", "example.test:80": "absolute", "": "absolute",
		"https://example.test/": "CONNECT", "wss://example.test/": "CONNECT",
		"ftp://example.test/": "http://", "://example.test/": "http://",
		"http:///a": "host", "http://u@example.test/": "user info", "http://u:p@example.test/": "user info",
		"http://example.test:0/": "port", "http://example.test:65536/": "port",
		"http://example.test/#a": "fragment", "http://example.test#a": "fragment",
		"http://[::1/": "IPv6", "http://a%b/": "malformed",
	} {
		_, refused := absoluteTarget(&http1.Request{Method: "GET", Target: target})
		if refused == nil || refused.Status != 400 || !strings.Contains(refused.Text, hint) {
			t.Errorf("%q: %v, want a hint at %q", target, refused, hint)
		}
	}
}

// checkAuthority wants what every user of an accepted authority relies on.
func checkAuthority(t *testing.T, from, authority string, refused *reply.Error) {
	t.Helper()
	if refused != nil {
		if refused.Status != 400 || refused.Text == "" {
			t.Errorf("%q: odd refusal %v", from, refused)
		}
		return
	}
	host, port, err := net.SplitHostPort(authority)
	if err != nil || host == "" {
		t.Fatalf("%q: authority %q does not split: %v", from, authority, err)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		t.Errorf("%q: port of %q", from, authority)
	}
	if strings.ContainsFunc(authority, func(c rune) bool { return c < 0x21 || c == 0x7f }) || strings.ContainsAny(authority, "@/?#%") {
		t.Errorf("%q: authority %q", from, authority)
	}
	if again, refused := connectTarget(authority); refused != nil || again != authority {
		t.Errorf("%q: authority %q becomes %q, %v", from, authority, again, refused)
	}
}

func FuzzConnectTarget(f *testing.F) {
	for _, seed := range []string{"example.test:443", "[::1]:80", "u@h:1", "h:", "::1:1", "[fe80::1%1]:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		authority, refused := connectTarget(target)
		checkAuthority(t, target, authority, refused)
		Self{}.Holds(authority)
	})
}

func FuzzAbsoluteTarget(f *testing.F) {
	for _, seed := range []string{"http://example.test/", "http://[::1]:80?q", "ws://h:1#", "http://u@h/", "https://h"} {
		f.Add("GET", seed)
	}
	f.Fuzz(func(t *testing.T, method, target string) {
		got, refused := absoluteTarget(&http1.Request{Method: method, Target: target})
		checkAuthority(t, target, got.authority, refused)
		if refused == nil && got.origin != "*" && !strings.HasPrefix(got.origin, "/") {
			t.Errorf("%q: origin form %q", target, got.origin)
		}
		if _, _, bad := splitAuthority(got.host); refused == nil && bad != nil {
			t.Errorf("%q: Host %q", target, got.host)
		}
	})
}
