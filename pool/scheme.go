package pool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"swivel/pool/spelling"
)

// schemeNames are the spellings of String, by Scheme.
var schemeNames = [...]string{
	HTTP: "http", HTTPS: "https", SOCKS4: "socks4", SOCKS4A: "socks4a", SOCKS5: "socks5", SOCKS5H: "socks5h", Direct: "direct",
}

// String returns the scheme as a list spells it, in lower case.
func (s Scheme) String() string {
	if int(s) < len(schemeNames) {
		return schemeNames[s]
	}
	return fmt.Sprintf("scheme(%d)", uint8(s))
}

// canonical folds the spellings that mean the same proxy into one: swivel
// never resolves a target's name itself, so the h of socks5h and the a of
// socks4a change nothing on the wire.
func (s Scheme) canonical() Scheme {
	switch s {
	case SOCKS4A:
		return SOCKS4
	case SOCKS5H:
		return SOCKS5
	}
	return s
}

// defaultPort is the port of a URI that names none.
func (s Scheme) defaultPort() uint16 {
	switch s {
	case HTTP:
		return 80
	case HTTPS:
		return 443
	}
	return 1080
}

// lookupScheme finds a scheme by its name in any case.
func lookupScheme(name string) (Scheme, bool) {
	switch strings.ToLower(name) {
	case "http":
		return HTTP, true
	case "https":
		return HTTPS, true
	case "socks4":
		return SOCKS4, true
	case "socks4a":
		return SOCKS4A, true
	case "socks5", "socks":
		return SOCKS5, true
	case "socks5h":
		return SOCKS5H, true
	}
	return HTTP, false
}

// cutScheme takes "scheme://" off text. Text before "://" that cannot be a
// scheme is left alone: it may be a password. found says whether there was one.
func cutScheme(text string) (scheme Scheme, rest string, found bool, err error) {
	name, rest, found := strings.Cut(text, "://")
	if found && isAssignment(name) {
		return HTTP, "", false, errInFront
	}
	if !found || !schemeLike(name) {
		return HTTP, text, false, nil
	}
	scheme, known := lookupScheme(name)
	if !known {
		return HTTP, "", false, unknownScheme(name)
	}
	return scheme, rest, true, nil
}

// schemes are what a list may say.
var schemes = []string{"http", "https", "socks4", "socks4a", "socks5", "socks5h", "socks"}

// foreign are what subscriptions and exports have that swivel does not speak.
var foreign = []string{
	"ss", "ssr", "shadowsocks", "vmess", "vless", "trojan", "trojan-go", "hysteria", "hysteria2", "hy2", "tuic", "wireguard", "wg",
	"anytls", "juicity", "mieru", "naive", "naive+https", "naive+quic", "shadowtls", "snell", "sudoku", "masque", "ssh", "quic", "http2", "http3",
	"h2", "ws", "wss", "tcp", "udp", "tls", "ssl", "ftp", "ftps", "sftp", "direct", "dns",
}

// isForeign reports whether name, in any case, is known, and as nothing that
// swivel speaks: then a message may quote it.
func isForeign(name string) bool { return slices.Contains(foreign, strings.ToLower(name)) }

// unknownScheme names a scheme only if it is one, or a slip of one: else it may be
// a user.
func unknownScheme(name string) error {
	named := ""
	if isForeign(name) || spelling.Near(name, schemes) != "" {
		named = " " + strconv.Quote(name)
	}
	return fmt.Errorf("unknown scheme%s: use http, https, socks4, socks4a, socks5, socks5h or socks", named)
}

// schemeLike reports whether name follows the grammar of RFC 3986 section 3.1.
// What is longer is none that anybody uses.
func schemeLike(name string) bool {
	if name == "" || len(name) > 16 || !isLetter(name[0]) {
		return false
	}
	for i := range len(name) {
		if c := name[i]; !isLetter(c) && !isDigit(c) && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
