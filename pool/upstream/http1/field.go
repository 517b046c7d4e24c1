package http1

import "strings"

// Field is one field line as it was received: the name in its own spelling,
// the value without the blanks around it.
type Field struct {
	Name, Value string
}

// Fields are the field lines of a head in their order.
type Fields []Field

// Get returns the first value of name, or "".
func (f Fields) Get(name string) string {
	for i := range f {
		if strings.EqualFold(f[i].Name, name) {
			return f[i].Value
		}
	}
	return ""
}

// Count says how many lines bear the name.
func (f Fields) Count(name string) int {
	n := 0
	for i := range f {
		if strings.EqualFold(f[i].Name, name) {
			n++
		}
	}
	return n
}

// HasToken says whether a comma-separated list field (Connection, Upgrade)
// holds the token, in any of its lines and in any case.
func (f Fields) HasToken(name, token string) bool {
	for i := range f {
		if strings.EqualFold(f[i].Name, name) && listHas(f[i].Value, token) {
			return true
		}
	}
	return false
}

func listHas(list, token string) bool {
	for len(list) > 0 {
		var item string
		item, list, _ = strings.Cut(list, ",")
		if strings.EqualFold(trimOWS(item), token) {
			return true
		}
	}
	return false
}

// EndToEnd appends to dst the fields that a proxy passes on: all but those
// that belong to one connection (RFC 9110 section 7.6.1) and those that a
// Connection field of this message names; Host and framing cannot be named
// away. Of the framing fields just what states the given framing is kept, once
// and in its place.
func (f Fields) EndToEnd(dst Fields, framing Framing) Fields {
	nominated := f.Count("Connection") > 0
	stated := false
	for i := range f {
		switch name := f[i].Name; {
		case hopByHop(name):
		case strings.EqualFold(name, "Content-Length"):
			if !stated && framing.statesLength() {
				stated = true
				dst = append(dst, f[i])
			}
		case strings.EqualFold(name, "Transfer-Encoding"):
			if !stated && framing.Kind == Chunked {
				stated = true
				dst = append(dst, Field{name, "chunked"})
			}
		case nominated && f.nominates(name):
		default:
			dst = append(dst, f[i])
		}
	}
	return dst
}

func (f Fields) nominates(name string) bool {
	return !strings.EqualFold(name, "Host") && f.HasToken("Connection", name)
}

func isFraming(name string) bool {
	return strings.EqualFold(name, "Content-Length") || strings.EqualFold(name, "Transfer-Encoding")
}

// hopByHop switches on the length first: this runs for every field of every
// message.
func hopByHop(name string) bool {
	switch len(name) {
	case 2:
		return strings.EqualFold(name, "TE")
	case 7:
		return strings.EqualFold(name, "Upgrade")
	case 10:
		return strings.EqualFold(name, "Connection") || strings.EqualFold(name, "Keep-Alive")
	case 16:
		return strings.EqualFold(name, "Proxy-Connection")
	case 18:
		return strings.EqualFold(name, "Proxy-Authenticate")
	case 19:
		return strings.EqualFold(name, "Proxy-Authorization")
	case 25:
		return strings.EqualFold(name, "Proxy-Authentication-Info")
	}
	return false
}

func trimOWS(s string) string {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// isToken reports whether s is a token of RFC 9110 section 5.6.2.
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		if !tokenByte[s[i]] {
			return false
		}
	}
	return len(s) > 0
}

var tokenByte = func() (t [256]bool) {
	for _, c := range "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		t[c] = true
	}
	return t
}()

// hasControl reports whether s holds a control byte other than HTAB.
func hasControl(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}
