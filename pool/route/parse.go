package route

import "strings"

// maxText bounds user names and fields, for the search for keys in them looks at
// some bytes more than once.
const maxText = 1024

var errLong = &Error{Reason: "the text is longer than 1024 bytes"}

// Users are the names that clients may have.
type Users interface {
	// Has says whether there is a client of that name.
	Has(name string) bool
}

// Parse splits the user name that a client gives its proxy into the client's own
// name and the routing keys behind it:
//
//	NAME[-key-value]... or NAME[+key=value]... or NAME[;key=value]...
//
// A comma separates too, and the forms mix. Nothing is decoded. Names of keys
// are known in any case, and under those that vendors gave them: country or cc;
// region, state or st; city; provider; tag, zone or groups; protocol; proxy;
// session, sessid, sess or sid; ttl, lifetime, sesstime or sessionduration, in
// minutes unless a unit is given; strict, with or without a value. The sessions
// sessid_oneip, session_iplock and hardsession are strict.
//
// NAME is the longest of the users that fits. Without users (nil), or if none
// fits, it is all that stands before the first known key and its value: a text
// that holds none is just a name. Behind NAME everything has to be a known
// key with a good value, each at most once; else the error is an *Error, and the
// Route asks for nothing. The name is good also then, so that whoever checks
// passwords can do that first.
//
// A value ends at the next separator. The id of a session may hold -, and so may
// a value behind =; these end at a - only if a known key and its value follow.
func Parse(user string, users Users) (name string, r Route, err error) {
	if len(user) > maxText {
		return "", Route{}, errLong
	}
	name, text := split(user, users)
	if text == "" {
		return name, Route{}, nil
	}
	r, err = parsePairs(text[1:])
	return name, r, err
}

// parsePairs is apart from Parse, because it takes memory that most names do not
// need.
func parsePairs(text string) (Route, error) {
	var r Route
	if bad := r.read(text); bad != nil {
		return Route{}, bad
	}
	return r, nil
}

// ParseHeader reads the X-Swivel-Route field into r: the keys as in a user name,
// without a name in front of them, with blanks around separators as they please.
// A key that stands in r already is overruled: who adds a field to one request
// means that request. On an error, an *Error, r is as before.
func ParseHeader(value string, r *Route) error {
	if len(value) > maxText {
		return errLong
	}
	text := strings.Trim(value, " \t;,")
	if text == "" {
		return nil
	}
	next := *r
	if bad := next.read(text); bad != nil {
		return bad
	}
	*r = next
	return nil
}

// ParseSession reads the X-Swivel-Session field, the id of a session, into r. It
// overrules what stands there. On an error, an *Error, r is as before.
func ParseSession(value string, r *Route) error {
	next := *r
	if fault := setSession(&next, strings.Trim(value, " \t")); fault != "" {
		return &Error{Key: "session", Reason: fault}
	}
	*r = next
	return nil
}

// split cuts a user name behind the client's own. The keys begin with their
// separator; text is empty if there are none.
func split(user string, users Users) (name, text string) {
	if users != nil {
		for end := len(user); end > 0; end = strings.LastIndexAny(user[:end], separators) {
			if users.Has(user[:end]) {
				return user[:end], user[end:]
			}
		}
	}
	if beginsPair(user) {
		return "", ";" + user
	}
	for i := range len(user) {
		if separates(user[i]) && beginsPair(user[i+1:]) {
			return user[:i], user[i:]
		}
	}
	return user, ""
}

// read takes in the pairs of a text, of which there is one at least.
func (r *Route) read(text string) *Error {
	var seen []*key
	for more := true; more; {
		var p pair
		p, text, more = nextPair(text)
		if p.key == nil {
			return unknown(p.word)
		}
		for _, k := range seen {
			if k == p.key {
				return &Error{Key: p.word, Reason: "it is given twice"}
			}
		}
		seen = append(seen, p.key)
		if fault := p.key.set(r, p.value); fault != "" {
			return &Error{Key: p.word, Reason: fault}
		}
		if pinned[strings.ToLower(p.word)] {
			r.Strict = true
		}
	}
	return nil
}
