package front

import (
	"errors"
	"strings"

	"swivel/cmd/swivel/internal/auth"
	"swivel/cmd/swivel/internal/reply"
	"swivel/pool/route"
	"swivel/pool/upstream"
	"swivel/pool/upstream/http1"
)

// caller is who sends a request, and what it asks of the pool.
type caller struct {
	// user is the name of a user who has authenticated, or tried to. It is ""
	// when nobody has to: what a client then gives as its name may be anything,
	// a key of another service too, and is not for the log.
	user string
	// name is what the client calls itself, true or not: sessions of different
	// names are different ones. It is not for the log either.
	name  string
	route route.Route
	hops  int // how many swivels the request has passed
}

// nobody is who says nothing of itself, as most clients do: their tunnels last, and
// need not remember that.
var nobody caller

// kept is the caller as a request remembers it.
func (who caller) kept() *caller {
	if who == nobody {
		return &nobody
	}
	somebody := who // to be allocated here, and not at every call
	return &somebody
}

const (
	wantPassword  = "this proxy wants a user name and a password"
	wrongPassword = "the user name or the password is wrong"
)

// callerOf reads who sends an HTTP request: Proxy-Authorization, and the fields
// with routing keys. None of them is passed on.
func (f *Front) callerOf(fields http1.Fields) (who caller, refused *reply.Error) {
	user, password, refused := f.credentials(fields)
	if refused != nil {
		return caller{}, refused
	}
	if who, refused = f.authenticate(user, password); refused == nil {
		refused = who.readFields(fields)
	}
	return who, refused
}

// credentials reads Proxy-Authorization. As long as nobody checks the password,
// there may be any, and none is handed out.
func (f *Front) credentials(fields http1.Fields) (user, password string, refused *reply.Error) {
	value := fields.Get("Proxy-Authorization")
	if !f.Guard.Required() {
		return auth.Name(value), "", nil
	}
	if fields.Count("Proxy-Authorization") > 1 {
		return "", "", reply.BadRequest(400, "more than one Proxy-Authorization field")
	}
	user, password, err := auth.Basic(value)
	if err != nil || user == "" && password == "" {
		return "", "", reply.AuthRequired(wantPassword)
	}
	return user, password, nil
}

// authenticate checks a user name, which may bear routing keys, and a password.
func (f *Front) authenticate(user, password string) (who caller, refused *reply.Error) {
	if !f.Guard.Required() {
		name, keys, err := route.Parse(user, nil)
		return caller{name: name, route: keys}, badKeys(err)
	}
	users := f.Guard.Users()
	name, keys, err := route.Parse(user, users)
	if users.Has(name) {
		who = caller{user: name, name: name, route: keys}
	}
	switch f.Guard.Check(name, password) {
	case nil:
		return who, badKeys(err)
	case auth.ErrBusy:
		return who, reply.TooManyLogins()
	}
	return who, reply.AuthRequired(wrongPassword)
}

// readFields reads the routing keys that stand in fields of their own, and the hops.
func (who *caller) readFields(fields http1.Fields) *reply.Error {
	keys, sessions := "", 0
	for _, f := range fields {
		switch {
		case strings.EqualFold(f.Name, upstream.HopsField):
			if who.hops = upstream.Hops(f.Value); who.hops >= upstream.MaxHops {
				return reply.Loop("the request has passed too many swivels: two of them list each other")
			}
		case strings.EqualFold(f.Name, "X-Swivel-Route"):
			if keys != "" { // a field that stands twice is one (RFC 9110 section 5.3)
				keys += ";"
			}
			keys += f.Value
		case strings.EqualFold(f.Name, "X-Swivel-Session"):
			if sessions++; sessions > 1 {
				return badKeys(&route.Error{Key: "session", Reason: "it is given twice"})
			}
		}
	}
	if keys == "" && sessions == 0 {
		return nil
	}
	return badKeys(who.readKeys(keys, fields.Get("X-Swivel-Session"), sessions > 0))
}

// readKeys reads what the fields say. They overrule the user name, and not each
// other.
func (who *caller) readKeys(keys, session string, hasSession bool) error {
	if !hasSession {
		return route.ParseHeader(keys, &who.route)
	}
	var own route.Route
	if err := route.ParseHeader(keys, &own); err != nil {
		return err
	}
	if own.Session != "" {
		return &route.Error{Key: "session", Reason: "it is given twice"}
	}
	if err := route.ParseHeader(keys, &who.route); err != nil {
		return err
	}
	return route.ParseSession(session, &who.route)
}

// badKeys is what a client is told of an error of package route, which names
// the key.
func badKeys(err error) *reply.Error {
	if bad, ok := errors.AsType[*route.Error](err); ok {
		return reply.BadRoutingKey(bad.Error())
	}
	return nil
}
