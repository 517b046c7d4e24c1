package pool

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ID is the public name of a proxy: 16 hex digits that stay the same as long
// as its identity and the salt do. It is safe in logs, metrics and URLs. The
// zero value names no proxy.
type ID string

// identity is what makes a proxy the one it is, in a form that compares.
// Credentials belong to it because vendors put sessions and exits into them.
type identity struct {
	scheme         Scheme
	host           string
	port           uint16
	user, password string
}

func (s *Spec) identity() identity {
	return identity{s.Scheme.canonical(), s.Host, s.Port, s.User, s.Password.Reveal()}
}

// Identity returns the proxy's canonical URI, which a list line can hold as it
// is. It contains the credentials: compare it or hash it, never show it.
// Spellings that reach the same proxy in the same way have one identity: socks,
// socks5 and socks5h are "socks5", socks4 and socks4a are "socks4".
//
// Stored breaker states hang on this form through ID, so it must not change.
func (s *Spec) Identity() string { return string(s.appendIdentity(nil)) }

func (s *Spec) appendIdentity(b []byte) []byte {
	b = append(b, s.Scheme.canonical().String()...)
	b = append(b, "://"...)
	if s.User != "" || s.Password != "" {
		b = append(appendEscaped(b, s.User), ':')
		b = append(appendEscaped(b, s.Password.Reveal()), '@')
	}
	return s.appendAddress(b)
}

// ID returns the proxy's public id: an HMAC-SHA256 of its identity keyed with
// salt, cut to 64 bits. The key matters because vendors' session users can be
// guessed: whoever lacks the salt cannot check a guess against an id.
func (s *Spec) ID(salt []byte) ID { return IDs(salt)(s) }

// IDs returns a function that does what Spec.ID does, for one after the other of
// many: it reuses its memory, and is not for concurrent use.
func IDs(salt []byte) func(*Spec) ID {
	mac := hmac.New(sha256.New, salt)
	var text []byte
	return func(s *Spec) ID {
		mac.Reset()
		text = s.appendIdentity(text[:0])
		mac.Write(text)
		text = mac.Sum(text[:0])
		var id [16]byte
		hex.Encode(id[:], text[:8])
		return ID(id[:])
	}
}

// appendEscaped percent-encodes everything but the unreserved characters of RFC
// 3986 section 2.3, so that nothing in a credential can be taken for a delimiter,
// a variable or a blank.
func appendEscaped(b []byte, text string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(text) {
		c := text[i]
		if isLetter(c) || isDigit(c) || strings.IndexByte("-._~", c) >= 0 {
			b = append(b, c)
			continue
		}
		b = append(b, '%', digits[c>>4], digits[c&15])
	}
	return b
}
