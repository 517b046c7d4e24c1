package http1

import (
	"errors"
	"strings"
)

// ErrNotHTTP says that a reply is not an HTTP/1.x response.
var ErrNotHTTP = errors.New("http1: the reply is not HTTP/1.x")

// Response is a response head as received, with illegal lines repaired or
// dropped. The zero value is ready for Parse.
type Response struct {
	Status int
	Reason string
	Minor  int
	Fields Fields
}

// Parse reads a head that ReadHead returned. Only the status line (ErrNotHTTP)
// and more than MaxFields lines (ErrHeadTooLarge) can make it fail; bare LF is accepted, blanks before a colon are removed
// (RFC 9112 section 5.1), folded lines are joined, and a line that has no
// legal name is dropped.
func (r *Response) Parse(head string) error {
	r.Fields = r.Fields[:0]
	line, rest := anyLine(head)
	if err := r.statusLine(line); err != nil {
		return err
	}
	for rest != "" {
		line, rest = anyLine(rest)
		if line == "" {
			return nil
		}
		if len(r.Fields) == MaxFields {
			return ErrHeadTooLarge
		}
		r.addLine(line)
	}
	return nil
}

func (r *Response) statusLine(line string) error {
	version, rest, _ := strings.Cut(line, " ")
	minor, err := parseVersion(version)
	if err != nil {
		return ErrNotHTTP
	}
	rest = strings.TrimLeft(rest, " ")
	code, reason, _ := strings.Cut(rest, " ")
	if len(code) != 3 || code[0] < '1' || !digit(code[0]) || !digit(code[1]) || !digit(code[2]) {
		return ErrNotHTTP
	}
	r.Minor = minor
	r.Status = int(code[0]-'0')*100 + int(code[1]-'0')*10 + int(code[2]-'0')
	r.Reason = cleanValue(reason)
	return nil
}

func (r *Response) addLine(line string) {
	if line[0] == ' ' || line[0] == '\t' {
		if n := len(r.Fields); n > 0 {
			last := &r.Fields[n-1]
			last.Value = trimOWS(last.Value + " " + cleanValue(trimOWS(line)))
		}
		return
	}
	name, value, ok := strings.Cut(line, ":")
	name = trimOWS(name)
	if !ok || !isToken(name) {
		return
	}
	r.Fields = append(r.Fields, Field{name, cleanValue(trimOWS(value))})
}

// cleanValue replaces control bytes by blanks (RFC 9110 section 5.5).
func cleanValue(s string) string {
	if !hasControl(s) {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			b[i] = ' '
		}
	}
	return trimOWS(string(b))
}

// anyLine cuts the first line off s, with or without its CR.
func anyLine(s string) (line, rest string) {
	i := strings.IndexByte(s, '\n')
	if i < 0 {
		return s, ""
	}
	return strings.TrimSuffix(s[:i], "\r"), s[i+1:]
}

// KeepAlive says whether the server leaves the connection open behind a
// message whose end is known.
func (r *Response) KeepAlive() bool {
	if r.Fields.HasToken("Connection", "close") || r.Fields.HasToken("Proxy-Connection", "close") {
		return false
	}
	return r.Minor >= 1 || r.Fields.HasToken("Connection", "keep-alive") || r.Fields.HasToken("Proxy-Connection", "keep-alive")
}
