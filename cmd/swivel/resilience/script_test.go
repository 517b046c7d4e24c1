package resilience

import (
	"math/rand/v2"
	"time"
)

// script says how an upstream answers a CONNECT to the target.
type script func(target string) answer

// answer is one reply. The zero value is to hang up at once.
type answer struct {
	after  time.Duration
	text   string // empty: hang up
	silent bool   // say nothing and keep the connection
}

// The replies.
const (
	opened     = "HTTP/1.1 200 Connection established\r\n\r\n"
	badGateway = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
	needsLogin = "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n"
)

// deadTarget cannot be reached through any proxy.
const deadTarget = "dead.example.test:443"

// sound opens tunnels after that long to all targets that are up.
func sound(after time.Duration) script {
	return func(target string) answer {
		if target == deadTarget {
			return answer{after: 20 * time.Millisecond, text: badGateway}
		}
		return answer{after: after, text: opened}
	}
}

// silent accepts and says nothing: a black hole.
func silent(string) answer { return answer{silent: true} }

// always gives one reply, quickly.
func always(text string) script {
	return func(string) answer { return answer{after: 2 * time.Millisecond, text: text} }
}

// flaky fails half of the attempts, before its 200: by a 502 or by hanging up.
// What fails behind a 200 nobody could repeat.
func flaky(after time.Duration) script {
	ok := sound(after)
	return func(target string) answer {
		switch rand.N(4) {
		case 0:
			return answer{after: after}
		case 1:
			return answer{after: after, text: badGateway}
		}
		return ok(target)
	}
}
