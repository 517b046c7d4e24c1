package http1

import "strings"

// Error is a message that cannot be accepted. Status is what the sender of a
// request is told (400, 501, 505); Text is safe to show, it quotes nothing of
// the message.
type Error struct {
	Status int
	Text   string
}

func (e *Error) Error() string { return "http1: " + e.Text }

func bad(text string) error { return &Error{Status: 400, Text: text} }

// MaxFields is how many field lines a head may have: with more, work that is
// quadratic in their number would hurt.
const MaxFields = 1000

// Request is a request head as received. The zero value is ready for Parse,
// which may be called again to reuse the memory of Fields.
type Request struct {
	Method string
	Target string // the request target byte for byte
	Minor  int    // 0 for HTTP/1.0, 1 for HTTP/1.1 and what else claims to be 1.x
	Fields Fields
}

// Parse reads a head that ReadHead returned. Its errors are *Error; after one,
// Method and Target are set if the request line has them, so that the answer
// can suit the method.
func (r *Request) Parse(head string) error {
	*r = Request{Fields: emptied(r.Fields, head)}
	line, rest, err := crlfLine(head)
	if err != nil {
		return err
	}
	if err := r.startLine(line); err != nil {
		return err
	}
	for {
		line, rest, err = crlfLine(rest)
		if err != nil || line == "" {
			return err
		}
		f, err := strictField(line)
		if err != nil {
			return err
		}
		if len(r.Fields) == MaxFields {
			return &Error{Status: 431, Text: "more than 1000 field lines"}
		}
		r.Fields = append(r.Fields, f)
	}
}

// emptied returns f without its fields. New memory is taken once, as much as
// the head has lines.
func emptied(f Fields, head string) Fields {
	if cap(f) > 0 {
		return f[:0]
	}
	return make(Fields, 0, min(strings.Count(head, "\n"), MaxFields))
}

func (r *Request) startLine(line string) error {
	method, rest, ok1 := strings.Cut(line, " ")
	target, version, ok2 := strings.Cut(rest, " ")
	switch {
	case !ok1 || !ok2 || target == "":
		return bad("the request line is not METHOD TARGET HTTP/1.1")
	case !isToken(method):
		return bad("the method is not a token")
	case hasControl(target) || strings.IndexByte(target, '\t') >= 0:
		return bad("the request target holds a control character")
	}
	r.Method, r.Target = method, target
	minor, err := parseVersion(version)
	r.Minor = minor
	return err
}

// parseVersion takes HTTP/1.x; a higher minor version is treated as 1.1, as
// RFC 9110 section 2.5 says.
func parseVersion(v string) (minor int, err error) {
	if len(v) != 8 || !strings.HasPrefix(v, "HTTP/") || !digit(v[5]) || v[6] != '.' || !digit(v[7]) {
		return 0, bad("the HTTP version is malformed")
	}
	if v[5] != '1' {
		return 0, &Error{Status: 505, Text: "only HTTP/1.0 and HTTP/1.1 are spoken here"}
	}
	return min(int(v[7]-'0'), 1), nil
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// crlfLine cuts the first line off s; a line that ends in a bare LF is refused
// (a proxy that tolerates it disagrees with the next hop about where lines
// end, which is how requests are smuggled).
func crlfLine(s string) (line, rest string, err error) {
	i := strings.IndexByte(s, '\n')
	if i < 1 || s[i-1] != '\r' {
		return "", "", bad("a line does not end in CR LF")
	}
	return s[:i-1], s[i+1:], nil
}

// strictField parses a field line of a request (RFC 9112 section 5).
func strictField(line string) (Field, error) {
	if line[0] == ' ' || line[0] == '\t' {
		return Field{}, bad("a field line is folded")
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return Field{}, bad("a field line has no colon")
	}
	if !isToken(name) {
		return Field{}, bad("a field name is not a token")
	}
	value = trimOWS(value)
	if hasControl(value) {
		return Field{}, bad("a field value holds a control character")
	}
	return Field{name, value}, nil
}

// KeepAlive says whether the client wants the connection to stay open.
// A proxy must not keep it with an HTTP/1.0 client (RFC 9112 section 9.3).
func (r *Request) KeepAlive() bool {
	return r.Minor >= 1 && !r.Fields.HasToken("Connection", "close") && !r.Fields.HasToken("Proxy-Connection", "close")
}

// Upgrades says whether the request asks to switch to the protocol, be it as one
// of several (RFC 9110 section 7.8).
func (r *Request) Upgrades(protocol string) bool {
	return r.Minor > 0 && r.Fields.HasToken("Connection", "upgrade") && r.Fields.HasToken("Upgrade", protocol)
}
