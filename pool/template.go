package pool

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"swivel/pool/route"
)

// The user and the password of a gateway may hold placeholders: {session},
// {country}, {region}, {city} and {random}. They are filled for each attempt
// from what its client asks for. A word in braces that is none of these stands
// for itself, and {{session}} for {session}.
//
// What is filled in cannot break out of its place, for a vendor reads more keys
// out of the user than we put in: see safeID and safeText.

// Templated says whether the proxy's credentials are to be filled in: they hold
// placeholders, or braces that are escaped.
func (s *Spec) Templated() bool { return s.holesOf() != holes{} }

// Placeholders returns the names of the placeholders in the proxy's credentials,
// each once.
func (s *Spec) Placeholders() (names []string) {
	for hole, has := range s.holesOf().has {
		if has {
			names = append(names, placeholderNames[hole])
		}
	}
	return names
}

// For returns the spec with its placeholders filled for one attempt; s itself
// when it has none. random is the attempt's own random text, letters and digits,
// no more than 32.
//
// {session} is the id of the client's session: as it is, if it consists of no
// more than 32 letters and digits, else a hash of it, in 16 digits, for vendors
// take dashes and the like for the end of the id. Without a session it is random,
// a session of its own. A place that the client does not ask for is the one that
// the list line names; if that names none either, the placeholder is left out
// together with the key in front of it, so that user-country-{country} becomes
// user.
//
// With a session in its credentials the gateway's exit does not change any more
// with the connection: the filled spec is not Rotating unless its line says so.
func (s *Spec) For(r route.Route, random string) *Spec {
	h := s.holesOf()
	if h == (holes{}) {
		return s
	}
	filled := *s
	values := s.fillings(r, random)
	filled.User = values.fill(s.User)
	filled.Password = Secret(values.fill(s.Password.Reveal()))
	if h.has[sessionHole] && !h.has[randomHole] && r.Session != "" && !s.RotatingSet {
		filled.Rotating = false
	}
	return &filled
}

// fillings are what placeholders stand for in one attempt.
type fillings [placeholders]string

func (s *Spec) fillings(r route.Route, random string) fillings {
	place := func(asked, listed string) string {
		if asked == "" {
			asked = route.Fold(listed)
		}
		return safeText(asked)
	}
	session := random
	if r.Session != "" {
		session = safeID(r.Session)
	}
	return fillings{
		sessionHole: session, randomHole: random,
		countryHole: place(r.Country, s.Country), regionHole: place(r.Region, s.Region), cityHole: place(r.City, s.City),
	}
}

// fill fills a template.
func (f *fillings) fill(template string) string {
	var out []byte
	for {
		c, found := cutPlaceholder(template)
		if !found {
			return string(append(out, template...))
		}
		out, template = append(out, c.before...), c.after
		switch {
		case c.escaped:
			out = append(out, "{"+placeholderNames[c.hole]+"}"...)
		case f[c.hole] != "":
			out = append(out, f[c.hole]...)
		default:
			if out = withoutKey(out); len(out) == 0 {
				template = strings.TrimLeft(template, delimiters)
			}
		}
	}
}

// delimiters are what vendors put between keys and values.
const delimiters = "-_+;,.="

// placeKeys are what vendors call the keys of places.
var placeKeys = map[string]bool{
	"country": true, "cc": true, "cr": true, "c": true, "region": true, "state": true, "st": true, "city": true,
}

// withoutKey takes the key of a value that is left out off the end of text, with
// the delimiters around it: of "user-country-" it leaves "user". Behind a word
// that is no such key only the delimiter goes.
func withoutKey(text []byte) []byte {
	trimmed := strings.TrimRight(string(text), delimiters)
	if len(trimmed) == len(text) {
		return text
	}
	start := strings.LastIndexAny(trimmed, delimiters) + 1
	if placeKeys[strings.ToLower(trimmed[start:])] {
		trimmed = strings.TrimRight(trimmed[:start], delimiters)
	}
	return text[:len(trimmed)]
}

// safeID returns an id that every vendor takes for one word.
func safeID(id string) string {
	const most = 32
	if len(id) <= most && strings.IndexFunc(id, func(c rune) bool { return c > '~' || !isLetter(byte(c)) && !isDigit(byte(c)) }) < 0 {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}

// safeText returns the name of a place as one word: what is neither a letter nor
// a digit becomes _, as vendors write San Jose.
func safeText(text string) string {
	return strings.Map(func(c rune) rune {
		if c > '~' || isLetter(byte(c)) || isDigit(byte(c)) {
			return c
		}
		return '_'
	}, text)
}

// shortest returns the shortest that a template can become: what is longer depends
// on what clients ask for.
func shortest(template string) string {
	if strings.IndexByte(template, '{') < 0 {
		return template
	}
	return (&fillings{sessionHole: "x", randomHole: "x"}).fill(template)
}
