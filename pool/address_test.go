package pool

import (
	"strings"
	"testing"
)

// testEnv is the environment of the tests.
func testEnv(name string) (string, bool) {
	value, ok := map[string]string{
		"PROXY_USER": "us3r", "PROXY_PASSWORD": "p%40:@${PROXY_USER}", "EMPTY": "", "country": "variable",
	}[name]
	return value, ok
}

// mustLine parses a line that describes one proxy.
func mustLine(t testing.TB, line string) Spec {
	t.Helper()
	specs, err := ParseLine(line, testEnv)
	if err != nil || len(specs) != 1 {
		t.Fatalf("%q: %d specs, %v", line, len(specs), err)
	}
	return *specs[0]
}

func TestAddressForms(t *testing.T) {
	for _, c := range []struct {
		name, line           string
		scheme               Scheme
		address, user, passw string
		auth                 bool
	}{
		{"host and port", "127.0.0.1:7001", HTTP, "127.0.0.1:7001", "", "", false},
		{"scheme", "http://127.0.0.1:7001", HTTP, "127.0.0.1:7001", "", "", false},
		{"trailing slash", "http://127.0.0.1:7001/", HTTP, "127.0.0.1:7001", "", "", false},
		{"trailing slash without a scheme", "u:p@127.0.0.1:7001/", HTTP, "127.0.0.1:7001", "u", "p", true},
		{"carriage return at the end", "http://127.0.0.1:7001\r\n", HTTP, "127.0.0.1:7001", "", "", false},
		{"byte order mark", "\ufeffhttp://127.0.0.1:7001", HTTP, "127.0.0.1:7001", "", "", false},
		{"upper-case host and trailing dot", "Proxy.EXAMPLE.:80", HTTP, "proxy.example:80", "", "", false},
		{"name of one label", "squid_1:3128", HTTP, "squid_1:3128", "", "", false},

		{"vendor form keeps the password's colons", "127.0.0.1:7001:user1-cc-de-sess-9:s3c:ret", HTTP, "127.0.0.1:7001", "user1-cc-de-sess-9", "s3c:ret", true},
		{"vendor form is not decoded", "127.0.0.1:7001:user%31:s3c%zzret", HTTP, "127.0.0.1:7001", "user%31", "s3c%zzret", true},
		{"vendor form with an @ in the password", "127.0.0.1:7001:user1:p@ss", HTTP, "127.0.0.1:7001", "user1", "p@ss", true},
		{"vendor form with an @ before a number", "127.0.0.1:7001:user1:p@ss:99", HTTP, "127.0.0.1:7001", "user1", "p@ss:99", true},
		{"vendor form of a name with an @ in the password", "h.example:7001:user1:p@ss", HTTP, "h.example:7001", "user1", "p@ss", true},
		{"vendor form with a slash at the password's end", "127.0.0.1:7001:user1:pass/", HTTP, "127.0.0.1:7001", "user1", "pass/", true},
		{"vendor form behind a scheme", "socks5://127.0.0.1:7005:user1:s3c:ret", SOCKS5, "127.0.0.1:7005", "user1", "s3c:ret", true},
		{"vendor form behind a scheme with an @", "http://h.example:7001:user1:p@ss", HTTP, "h.example:7001", "user1", "p@ss", true},
		{"vendor form with blank columns", "127.0.0.1:7001::", HTTP, "127.0.0.1:7001", "", "", false},
		{"vendor form with a blank password", "127.0.0.1:7001:user1:", HTTP, "127.0.0.1:7001", "user1", "", true},
		{"vendor form with :// in the password", "127.0.0.1:7001:user1:p://x", HTTP, "127.0.0.1:7001", "user1", "p://x", true},

		{"user first", "user1:s3cret:127.0.0.1:7001", HTTP, "127.0.0.1:7001", "user1", "s3cret", true},
		{"user first keeps the password's colons", "user1:s3:cr:et:127.0.0.1:7001", HTTP, "127.0.0.1:7001", "user1", "s3:cr:et", true},
		{"user first with an @ in the user", "me@mail.example:s3cret:127.0.0.1:7001", HTTP, "127.0.0.1:7001", "me@mail.example", "s3cret", true},
		{"user first behind a scheme", "socks5://user1:s3cret:127.0.0.1:7005", SOCKS5, "127.0.0.1:7005", "user1", "s3cret", true},
		{"user first and IPv6", "user1:s3cret:[::1]:7001", HTTP, "[::1]:7001", "user1", "s3cret", true},
		{"both orders are possible", "a.example:1:b.example:2", HTTP, "a.example:1", "b.example", "2", true},
		{"the password is a number, but the user no host", "us%r:1234:b.example:2", HTTP, "b.example:2", "us%r", "1234", true},

		{"userinfo", "user1:s3cret@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "user1", "s3cret", true},
		{"userinfo is decoded without a scheme, too", "user1:a%40b@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "user1", "a@b", true},
		{"URI with credentials", "socks5://user1:s3cret@127.0.0.1:7005", SOCKS5, "127.0.0.1:7005", "user1", "s3cret", true},
		{"decoded once", "http://user1:a%2540b+c@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "user1", "a%40b+c", true},
		{"colons in the password", "http://user1:a:b:c@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "user1", "a:b:c", true},
		{"@ in the password", "http://user1:p@ss@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "user1", "p@ss", true},
		{"# in the password", "http://user1:a#b@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "user1", "a#b", true},
		{"/ in the password", "http://user1:a/b?@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "user1", "a/b?", true},
		{"user alone", "socks5://user1@127.0.0.1:7005", SOCKS5, "127.0.0.1:7005", "user1", "", true},
		{"user with a colon alone", "http://user1:@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "user1", "", true},
		{"password alone", "http://:s3cret@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "", "s3cret", true},
		{"userinfo of a template without values", ":@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "", "", false},
		{"port in the user's place", "a.example:80@b.example:90", HTTP, "b.example:90", "a.example", "80", true},
		{"control bytes meant by escapes", "http://user1%0d%0aX-Evil:1:pw@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "user1\r\nX-Evil", "1:pw", true},
		{"NUL for http", "http://user1:p%00w@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "user1", "p\x00w", true},
		{"not UTF-8 in a password", "http://user1:p\xe4ss@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "user1", "p\xe4ss", true},
		{"templates", "http://u-{session}-{country}-{region}-{city}:{random}@gw.example:7777", HTTP, "gw.example:7777", "u-{session}-{country}-{region}-{city}", "{random}", true},

		{"IPv6", "http://[::1]:7001", HTTP, "[::1]:7001", "", "", false},
		{"IPv6 without a scheme", "[2001:DB8::0:1]:7001", HTTP, "[2001:db8::1]:7001", "", "", false},
		{"IPv6 without a port", "http://[::1]", HTTP, "[::1]:80", "", "", false},
		{"IPv6 vendor form", "[::1]:7001:user1:pw", HTTP, "[::1]:7001", "user1", "pw", true},
		{"IPv6 vendor form with an @", "[::1]:7001:user1:p@w:1", HTTP, "[::1]:7001", "user1", "p@w:1", true},
		{"IPv6 with userinfo", "https://user1:pw@[::1]", HTTPS, "[::1]:443", "user1", "pw", true},

		{"default port of http", "http://proxy.example", HTTP, "proxy.example:80", "", "", false},
		{"default port of https", "https://proxy.example/", HTTPS, "proxy.example:443", "", "", false},
		{"default port of socks", "socks4://u@proxy.example", SOCKS4, "proxy.example:1080", "u", "", true},
		{"scheme in upper case", "SOCKS5://127.0.0.1:7005", SOCKS5, "127.0.0.1:7005", "", "", false},
		{"socks5h", "socks5h://127.0.0.1:7005", SOCKS5H, "127.0.0.1:7005", "", "", false},
		{"socks4a", "socks4a://127.0.0.1:7004", SOCKS4A, "127.0.0.1:7004", "", "", false},
		{"socks", "socks://127.0.0.1:7005", SOCKS5, "127.0.0.1:7005", "", "", false},

		{"proxychains", "socks5 127.0.0.1 7005", SOCKS5, "127.0.0.1:7005", "", "", false},
		{"proxychains with credentials", "socks5\t127.0.0.1 7005  user1 s3c%zz:=et # x", SOCKS5, "127.0.0.1:7005", "user1", "s3c%zz:=et", true},
		{"proxychains with keys", "HTTP proxy.example 3128 weight=1", HTTP, "proxy.example:3128", "", "", false},
		{"proxychains and a bare word", "socks4 proxy.example 1080 rotating", SOCKS4, "proxy.example:1080", "", "", false},
		{"proxychains and IPv6", "socks5 ::1 7005", SOCKS5, "[::1]:7005", "", "", false},
		{"proxychains and IPv6 in brackets", "socks5 [::1] 7005", SOCKS5, "[::1]:7005", "", "", false},

		{"variables", "http://${PROXY_USER}:${PROXY_PASSWORD}@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "us3r", "p%40:@${PROXY_USER}", true},
		{"variables in part", "127.0.0.1:7001:a-${PROXY_USER}-b:x", HTTP, "127.0.0.1:7001", "a-us3r-b", "x", true},
		{"variable with an empty value", "user1:${EMPTY}@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "user1", "", true},
		{"dollar signs that start no variable", "127.0.0.1:7001:a$b$:${}${1}${a-b}$${", HTTP, "127.0.0.1:7001", "a$b$", "${}${1}${a-b}$${", true},
		{"escaped dollar sign", "http://u:%24{PROXY_USER}@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "u", "${PROXY_USER}", true},
		{"variable and template", "u:${country}{country}@127.0.0.1:7001", HTTP, "127.0.0.1:7001", "u", "variable{country}", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustLine(t, c.line)
			if s.Scheme != c.scheme || s.Address() != c.address {
				t.Errorf("%s://%s, want %s://%s", s.Scheme, s.Address(), c.scheme, c.address)
			}
			if s.User != c.user || s.Password.Reveal() != c.passw || s.HasAuth != c.auth {
				t.Errorf("%q %q %v, want %q %q %v", s.User, s.Password.Reveal(), s.HasAuth, c.user, c.passw, c.auth)
			}
		})
	}
}

func TestRefusedAddresses(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, c := range []struct{ name, line, reason string }{
		{"unknown scheme", "ss://s3cret@127.0.0.1:1", `unknown scheme "ss": use http,`},
		{"scheme only", "vmess://x", `unknown scheme "vmess"`},
		{"scheme with a slip", "htpp://user1:s3cret@h:1", `unknown scheme "htpp": use http,`},
		{"password in front of ://", "s3cret://x@h:80", "unknown scheme: use http,"},
		{"no scheme before ://", "://127.0.0.1:1", "path, query or fragment"},
		{"no host behind the scheme", "http://", "host"},
		{"word", "hello", "no port"},
		{"port missing without a scheme", "user1:s3cret@127.0.0.1", "no port"},
		{"port is a word", "http://user1:s3cret@127.0.0.1:notaport", "port is not"},
		{"port is empty", "http://127.0.0.1:", "port is not"},
		{"port 0", "127.0.0.1:0", "port is not"},
		{"port too large", "127.0.0.1:65536", "port is not"},
		{"port with a sign", "127.0.0.1:+80", "port is not"},
		{"port of many digits", "127.0.0.1:000080", "port is not"},
		{"range backwards", "127.0.0.1:20-10", "port is not"},
		{"range without an end", "127.0.0.1:20-", "port is not"},
		{"range of too many", "127.0.0.1:1-10001:u:s3cret", "more than 10000 ports"},
		{"range of three", "127.0.0.1:1-2-3", "port is not"},
		{"three fields", "127.0.0.1:7001:user1", "not host:port"},
		{"path", "http://127.0.0.1:7001/s3cret", "path, query or fragment"},
		{"query", "http://127.0.0.1:7001/?s3cret", "path, query or fragment"},
		{"fragment", "http://127.0.0.1:7001#s3cret", "path, query or fragment"},
		{"path behind credentials", "http://user1:s3cret@127.0.0.1:7001/x", "path, query or fragment"},
		{"pasted URL whose query has an @", "http://127.0.0.1:7001/?a=s3cret@evil.example", "need a port"},
		{"bare IPv6", "::1", "[::1]:7001"},
		{"bare IPv6 and port", "::1:7001", "[::1]:7001"},
		{"bare IPv6 that looks like the vendor form", "fe80:1:2:3:4:5:6:7", "[::1]:7001"},
		{"bare IPv6 of letters and a port", "abcd:1234:5678:9abc:def0:1:2:3:8080", "[::1]:7001"},
		{"bare IPv6 behind credentials", "user1:s3cret@2001:db8::1", "[::1]:7001"},
		{"IPv6 without a port", "[::1]", "no port"},
		{"IPv6 with a zone", "[fe80::1%eth0]:80", "neither a name"},
		{"IPv4 in brackets", "[127.0.0.1]:80", "neither a name"},
		{"bracket left open", "[::1:80", "neither a name"},
		{"text behind the bracket", "[::1]x:80", "neither a name"},
		{"number out of range in IPv4", "1.2.3.256:80", "neither a name"},
		{"short IPv4", "127.1:80", "neither a name"},
		{"empty label", "a..b:80", "neither a name"},
		{"long label", long + ".example:80", "neither a name"},
		{"long name", strings.Repeat("abcdefg.", 32) + "ab:80", "neither a name"},
		{"blank host", ":80", "neither a name"},
		{"umlaut in the host", "pröxy.example:80", "Punycode"},
		{"escaped control bytes in the host", "http://ho%0d%0ast:7001", "neither a name"},
		{"raw control byte", "http://ho\rst:7001", "control byte"},
		{"raw NUL in a password", "127.0.0.1:1:u:s3\x00cret", "control byte"},
		{"UTF-16", "\xff\xfeh\x00:\x001\x00", "control byte"},

		{"bad escape in the password", "http://user1:s3c%zzret@127.0.0.1:7001", "bad percent escape"},
		{"bad escape without a scheme", "user1:100%@127.0.0.1:7001", "bad percent escape"},
		{"bad escape in the user", "http://us%r:s3cret@127.0.0.1:7001", "bad percent escape"},
		{"escape finished by a variable", "http://u:%${EMPTY}40@127.0.0.1:7001", "bad percent escape"},
		{"missing variable", "http://user1:s3cret-${NOT_THERE}@127.0.0.1:7001", "environment variable NOT_THERE is not set"},
		{"variables that are all empty", "${EMPTY}:${EMPTY}@127.0.0.1:7001", "credentials are empty"},
		{"NUL for socks4", "socks4://us%00er@127.0.0.1:7004", "NUL"},
		{"NUL for socks4a", "socks4a://user1:s3%00cret@127.0.0.1:7004", "NUL"},
		{"long user for socks5", "socks5://" + strings.Repeat("u", 256) + ":s3cret@127.0.0.1:1", "255 bytes"},
		{"long password for socks5", "socks5h://u:" + strings.Repeat("%41", 256) + "@127.0.0.1:1", "255 bytes"},

		{"proxychains without a port", "socks5 127.0.0.1", "port is not"},
		{"proxychains without anything", "socks5", "neither a name"},
		{"proxychains with a user alone", "socks5 127.0.0.1 1080 s3cret", "needs a password"},
		{"proxychains with a user before a key", "socks5 127.0.0.1 1080 s3cret weight=2", "needs a password"},
		{"proxychains with a mistyped key", "socks5 127.0.0.1 1080 wieght=3 tag=x", "may not hold ="},
		{"proxychains with a word too many", "socks5 127.0.0.1 1080 u s3cret more", "no key=value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			specs, err := ParseLine(c.line, testEnv)
			if err == nil {
				t.Fatalf("accepted as %#v", specs)
			}
			for _, secret := range []string{"s3c", "zz", "user1", "cret"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("quotes the credentials: %v", err)
				}
			}
			if !strings.Contains(err.Error(), c.reason) {
				t.Errorf("%q, want a reason with %q", err, c.reason)
			}
		})
	}
}

func TestSOCKS5CredentialsOf255BytesFit(t *testing.T) {
	long := strings.Repeat("u", 255)
	if s := mustLine(t, "socks5://"+long+":"+long+"@127.0.0.1:1"); s.User != long {
		t.Error("cut")
	}
}

func TestVariableInAListFromAURLWasCalledUnset(t *testing.T) {
	_, err := ParseLine("u:${HOME}@127.0.0.1:1", nil)
	if err == nil || !strings.HasPrefix(err.Error(), "a list from a URL may not use the environment") {
		t.Error(err)
	}
}

func TestPortRangeExpands(t *testing.T) {
	for _, line := range []string{
		"gw.example:10001-10010", "gw.example:10001-10010:u:p", "u:p:gw.example:10001-10010",
		"socks5://u:p@gw.example:10001-10010/", "socks5 gw.example 10001-10010 u p",
	} {
		specs, err := ParseLine(line+" tag=x weight=2", nil)
		if err != nil || len(specs) != 10 {
			t.Errorf("%s: %d specs, %v", line, len(specs), err)
			continue
		}
		for i, s := range specs {
			if s.Port != uint16(10001+i) || s.Weight != 2 || s.Tags[0] != "x" || s.Host != "gw.example" {
				t.Errorf("%s: spec %d is %v, weight %v, tags %v", line, i, s, s.Weight, s.Tags)
			}
		}
	}
	if specs, err := ParseLine("gw.example:65535-65535", nil); err != nil || len(specs) != 1 {
		t.Errorf("range up to the last port: %d specs, %v", len(specs), err)
	}
}
