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
		if equalFold(f[i].Name, name) {
			return f[i].Value
		}
	}
	return ""
}

// Count says how many lines bear the name.
func (f Fields) Count(name string) int {
	n := 0
	for i := range f {
		if equalFold(f[i].Name, name) {
			n++
		}
	}
	return n
}

// HasToken says whether a comma-separated list field (Connection, Upgrade)
// holds the token, in any of its lines and in any case.
func (f Fields) HasToken(name, token string) bool {
	for i := range f {
		if equalFold(f[i].Name, name) && listHas(f[i].Value, token) {
			return true
		}
	}
	return false
}

func listHas(list, token string) bool {
	for len(list) > 0 {
		var item string
		item, list, _ = strings.Cut(list, ",")
		if equalFold(trimOWS(item), token) {
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
	return f.passed(dst, framing, false)
}

// Switching is EndToEnd for a message that switches protocols with the proxy's
// help: what asks for it or agrees to it is passed on too, in its place and as it is
// spelt. Of Connection only those options are left that name no other field, since
// what they name is not passed on.
func (f Fields) Switching(dst Fields, framing Framing) Fields {
	return f.passed(dst, framing, true)
}

func (f Fields) passed(dst Fields, framing Framing, switching bool) Fields {
	nominated := f.nominated()
	stated := false
	for i := range f {
		switch name := f[i].Name; {
		case switching && equalFold(name, "Upgrade"):
			dst = append(dst, f[i])
		case switching && equalFold(name, "Connection"):
			if own := ownOptions(f[i].Value); own != "" {
				dst = append(dst, Field{name, own})
			}
		case hopByHop(name):
		case equalFold(name, "Content-Length"):
			if !stated && framing.statesLength() {
				stated = true
				n, _, _ := strings.Cut(f[i].Value, ",")
				dst = append(dst, Field{name, trimOWS(n)})
			}
		case equalFold(name, "Transfer-Encoding"):
			if !stated && framing.Kind == Chunked {
				stated = true
				dst = append(dst, Field{name, "chunked"})
			}
		case nominated != nil && nominated[strings.ToLower(name)]:
		default:
			dst = append(dst, f[i])
		}
	}
	return dst
}

// Nominated says of a name whether it is that of a field that Connection names and
// that is therefore not passed on, be it in the trailer (RFC 9110 section 7.6.1).
// It is nil if Connection names none.
func (f Fields) Nominated() func(name string) bool {
	set := f.nominated()
	if set == nil {
		return nil
	}
	return func(name string) bool { return set[strings.ToLower(name)] }
}

// nominated returns the fields that Connection names, in lower case; nil for
// the options that every message has, which name nothing. A set, because a
// head can hold a thousand fields and a list as long as itself.
func (f Fields) nominated() map[string]bool {
	var set map[string]bool
	for i := range f {
		if !equalFold(f[i].Name, "Connection") {
			continue
		}
		item := ""
		for list := f[i].Value; list != ""; {
			item, list, _ = strings.Cut(list, ",")
			if item = trimOWS(item); !nominates(item) {
				continue
			}
			if set == nil {
				set = make(map[string]bool)
			}
			set[strings.ToLower(item)] = true
		}
	}
	return set
}

func nominates(option string) bool {
	return isToken(option) && !ownOption(option) && !equalFold(option, "Host")
}

// ownOption says whether a Connection option is about the connection itself.
func ownOption(option string) bool {
	return equalFold(option, "keep-alive") || equalFold(option, "close") || equalFold(option, "Upgrade")
}

// ownOptions is a Connection field's list without the options that are not about
// the connection itself; if there are none, it is the list byte for byte.
func ownOptions(list string) string {
	var own []string
	dropped := false
	for item, rest, more := "", list, true; more; {
		item, rest, more = strings.Cut(rest, ",")
		switch item = trimOWS(item); {
		case ownOption(item):
			own = append(own, item)
		case item != "":
			dropped = true
		}
	}
	if !dropped {
		return list
	}
	return strings.Join(own, ", ")
}

func isFraming(name string) bool {
	return equalFold(name, "Content-Length") || equalFold(name, "Transfer-Encoding")
}

// hopByHop switches on the length first: this runs for every field of every
// message.
func hopByHop(name string) bool {
	switch len(name) {
	case 2:
		return equalFold(name, "TE")
	case 7:
		return equalFold(name, "Upgrade")
	case 10:
		return equalFold(name, "Connection") || equalFold(name, "Keep-Alive")
	case 16:
		return equalFold(name, "Proxy-Connection")
	case 18:
		return equalFold(name, "Proxy-Authenticate")
	case 19:
		return equalFold(name, "Proxy-Authorization")
	case 25:
		return equalFold(name, "Proxy-Authentication-Info")
	}
	return false
}

// equalFold compares with a word in ASCII without regard to case. The lengths
// must be equal because strings.EqualFold also knows letters beyond ASCII: to
// it, the Kelvin sign is a k, and "chunked" could be spelled in a way that no
// other reader recognises.
func equalFold(s, word string) bool {
	return len(s) == len(word) && strings.EqualFold(s, word)
}

func trimOWS(s string) string {
	s = trimLeftOWS(s)
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

func trimLeftOWS(s string) string {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	return s
}

// isToken reports whether s is a token of RFC 9110 section 5.6.2.
func isToken(s string) bool { return s != "" && tokenLen(s) == len(s) }

// tokenLen returns the length of the token that s begins with, or 0.
func tokenLen(s string) int {
	for i := 0; i < len(s); i++ {
		if !tokenByte[s[i]] {
			return i
		}
	}
	return len(s)
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
