package upstream

import (
	"strings"

	"swivel/pool"
)

const (
	s5Hello  = "\x05\x01\x00"
	s5Offer  = "\x05\x02\x00\x02" // with credentials
	s5Name   = "\x05\x01\x00\x03\x0borigin.test\x01\xbb"
	s5Bound  = "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
	s4Name   = "\x04\x01\x01\xbb\x00\x00\x00\x01\x00origin.test\x00"
	s4Bound  = "\x00\x5a\x00\x00\x00\x00\x00\x00"
	longName = 255
)

// socks5Code is a row of a SOCKS5 proxy that replies with code and no more.
func socks5Code(name string, code byte, want pool.Signal) row {
	return row{
		name: name, scheme: pool.SOCKS5, want: want, status: int(code),
		steps: []step{{s5Hello, "\x05\x00"}, {s5Name, "\x05" + string([]byte{code}) + "\x00\x01\x00\x00\x00\x00\x00\x00"}},
	}
}

// socks5Greeting is a row of a SOCKS5 proxy that fails the greeting.
func socks5Greeting(name, user, reply string, want pool.Signal, status int) row {
	hello := s5Hello
	if user != "" {
		hello = s5Offer
	}
	return row{
		name: name, scheme: pool.SOCKS5, user: user, want: want, status: status,
		steps: []step{{hello, reply}},
	}
}

func socks5Login(name, password, reply string, want pool.Signal, status int) row {
	r := socks5Greeting(name, "user1:"+password, "\x05\x02", want, status)
	r.steps = append(r.steps, step{"\x01\x05user1" + string([]byte{byte(len(password))}) + password, reply})
	if want == pool.NoSignal {
		r.steps = append(r.steps, step{s5Name, s5Bound})
	}
	return r
}

func socks5To(name string, scheme pool.Scheme, target, request, reply string) row {
	return row{name: name, scheme: scheme, target: target, steps: []step{{s5Hello, "\x05\x00"}, {request, reply}}}
}

func socks5Rows() []row {
	user, password, host := strings.Repeat("u", 255), strings.Repeat("p", 255), strings.Repeat("h", longName)
	return []row{
		socks5To("name stays a name", pool.SOCKS5, "", s5Name, s5Bound),
		socks5To("name stays a name, socks5h", pool.SOCKS5H, "", s5Name, s5Bound),
		socks5To("IPv4 target", pool.SOCKS5, "192.0.2.7:80", "\x05\x01\x00\x01\xc0\x00\x02\x07\x00\x50", s5Bound),
		socks5To("IPv6 target over IPv4", pool.SOCKS5, "[::1]:8000", "\x05\x01\x00\x04"+strings.Repeat("\x00", 15)+"\x01\x1f\x40", s5Bound),
		socks5To("bound to a name of one byte", pool.SOCKS5, "", s5Name, "\x05\x00\x00\x03\x01\x61\x00\x50"),
		socks5To("bound to a name of none", pool.SOCKS5, "", s5Name, "\x05\x00\x00\x03\x00\x00\x50"),
		socks5To("reserved byte that is not 0", pool.SOCKS5, "", s5Name, "\x05\x00\x01\x01\x7f\x00\x00\x01\x00\x50"),
		socks5To("reserved byte of all bits", pool.SOCKS5, "", s5Name, "\x05\x00\xff\x01\x7f\x00\x00\x01\x00\x50"),
		socks5To("bound to IPv6", pool.SOCKS5, "", s5Name, "\x05\x00\x00\x04"+strings.Repeat("\x00", 18)),
		{
			name: "255 bytes of everything", scheme: pool.SOCKS5, user: user + ":" + password, target: host + ":443",
			steps: []step{
				{s5Offer, "\x05\x02"},
				{"\x01\xff" + user + "\xff" + password, "\x01\x00"},
				{"\x05\x01\x00\x03\xff" + host + "\x01\xbb", s5Bound},
			},
		},
		{
			name: "password without a user", scheme: pool.SOCKS5, user: ":s3cret",
			steps: []step{{s5Offer, "\x05\x02"}, {"\x01\x00\x06s3cret", "\x01\x00"}, {s5Name, s5Bound}},
		},
		{
			name: "credentials not asked for", scheme: pool.SOCKS5, user: "user1:s3cret",
			steps: []step{{s5Offer, "\x05\x00"}, {s5Name, s5Bound}},
		},
		socks5Login("password accepted", "s3cret", "\x01\x00", pool.NoSignal, 0),
		socks5Login("empty password", "", "\x01\x00", pool.NoSignal, 0),
		socks5Login("password rejected", "s3cret", "\x01\x01", pool.HandshakeAuth, 1),
		socks5Login("password accepted in version 5", "s3cret", "\x05\x00", pool.NoSignal, 0),
		socks5Login("password accepted in version 0", "s3cret", "\x00\x00", pool.NoSignal, 0),
		socks5Login("password rejected in version 5", "s3cret", "\x05\x01", pool.HandshakeAuth, 1),
		socks5Login("closed at the password", "s3cret", "", pool.HandshakeClosed, 0).ends(hangUp),

		socks5Greeting("password demanded, none there", "", "\x05\x02", pool.HandshakeAuth, 2),
		socks5Greeting("no acceptable method", "user1:s3cret", "\x05\xff", pool.HandshakeAuth, 0xff),
		socks5Greeting("GSSAPI", "user1:s3cret", "\x05\x01", pool.HandshakeAuth, 1),
		socks5Greeting("GSSAPI, no credentials", "", "\x05\x01", pool.HandshakeAuth, 1),
		socks5Greeting("an HTTP server", "", "HTTP/1.1 400 Bad Request\r\n\r\n", pool.HandshakeGarbage, 0),
		socks5Greeting("a SOCKS4 server", "", "\x00\x5b\x00\x00\x00\x00\x00\x00", pool.HandshakeGarbage, 0),
		socks5Greeting("closed at the greeting", "", "", pool.HandshakeClosed, 0).ends(hangUp),
		socks5Greeting("reset at the greeting", "", "", pool.HandshakeClosed, 0).ends(reset),
		socks5Greeting("silent at the greeting", "", "", pool.HandshakeTimeout, 0),
		socks5Greeting("silent after the greeting", "", "\x05\x00", pool.HandshakeTimeout, 0).then(s5Name, ""),
		socks5Greeting("closed after the greeting", "", "\x05\x00", pool.HandshakeClosed, 0).then(s5Name, "").ends(hangUp),
		socks5Greeting("reply of another version", "", "\x05\x00", pool.HandshakeGarbage, 0).then(s5Name, "\x04\x00\x00\x01"),
		socks5Greeting("reply of no address type", "", "\x05\x00", pool.HandshakeGarbage, 0).then(s5Name, "\x05\x00\x00\x09\x00\x00\x00\x00\x00\x00"),
		socks5Greeting("a refusal cut short", "", "\x05\x00", pool.TargetNamed, 4).then(s5Name, "\x05\x04").ends(hangUp),

		socks5Code("general failure", 1, pool.HandshakeFailed),
		socks5Code("not allowed by ruleset", 2, pool.HandshakeDenied),
		socks5Code("network unreachable", 3, pool.TargetNamed),
		socks5Code("host unreachable", 4, pool.TargetNamed),
		socks5Code("connection refused", 5, pool.TargetNamed),
		socks5Code("TTL expired", 6, pool.TargetNamed),
		socks5Code("command not supported", 7, pool.HandshakeUnsupported),
		socks5Code("address type not supported", 8, pool.HandshakeUnsupported),
		socks5Code("unassigned code", 0x5b, pool.HandshakeFailed),
	}
}

func socks4Reply(name, reply string, want pool.Signal, status int) row {
	return row{name: name, scheme: pool.SOCKS4A, want: want, status: status, steps: []step{{s4Name, reply}}}
}

func socks4Rows() []row {
	return []row{
		socks4Reply("granted", s4Bound, pool.NoSignal, 0),
		socks4Reply("granted by version 4", "\x04\x5a\x12\x34\x7f\x00\x00\x01", pool.NoSignal, 0),
		{name: "a name is a name under socks4", scheme: pool.SOCKS4, steps: []step{{s4Name, s4Bound}}},
		{name: "IPv4 target", scheme: pool.SOCKS4, target: "192.0.2.7:80", steps: []step{{"\x04\x01\x00\x50\xc0\x00\x02\x07\x00", s4Bound}}},
		{name: "IPv4 target that looks like the mark of a name", scheme: pool.SOCKS4, target: "0.0.0.9:80", steps: []step{{"\x04\x01\x00\x50\x00\x00\x00\x01\x000.0.0.9\x00", s4Bound}}},
		{name: "user id", scheme: pool.SOCKS4, user: "user1:", target: "192.0.2.7:80", steps: []step{{"\x04\x01\x00\x50\xc0\x00\x02\x07user1\x00", s4Bound}}},
		{name: "user id and name", scheme: pool.SOCKS4A, user: "user1:", steps: []step{{"\x04\x01\x01\xbb\x00\x00\x00\x01user1\x00origin.test\x00", s4Bound}}},
		socks4Reply("rejected or failed", "\x00\x5b\x00\x00\x00\x00\x00\x00", pool.HandshakeFailed, 0x5b),
		socks4Reply("no identd", "\x00\x5c\x00\x00\x00\x00\x00\x00", pool.HandshakeAuth, 0x5c),
		socks4Reply("wrong user", "\x00\x5d\x00\x00\x00\x00\x00\x00", pool.HandshakeAuth, 0x5d),
		socks4Reply("a code of none", "\x00\x00\x00\x00\x00\x00\x00\x00", pool.HandshakeGarbage, 0),
		socks4Reply("a SOCKS5 server", "\x05\xff", pool.HandshakeGarbage, 0),
		socks4Reply("an HTTP server", "HTTP/1.1 400 Bad Request\r\n\r\n", pool.HandshakeGarbage, 0),
		socks4Reply("closed without an answer", "", pool.HandshakeClosed, 0).ends(hangUp),
		socks4Reply("closed inside the reply", "\x00\x5a\x00", pool.HandshakeClosed, 0).ends(hangUp),
		socks4Reply("reset", "", pool.HandshakeClosed, 0).ends(reset),
		socks4Reply("silence", "", pool.HandshakeTimeout, 0),
		socks4Reply("silence inside the reply", "\x00\x5a\x00", pool.HandshakeTimeout, 0),
	}
}
