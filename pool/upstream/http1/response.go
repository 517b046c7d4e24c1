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

	odd      bool // something was repaired or dropped
	doubtful bool // and another reader may see another message
}

// Parse reads a head that ReadHead returned. Only the status line (ErrNotHTTP)
// and more than MaxFields fields (ErrHeadTooLarge) can make it fail: bare LF is
// accepted, blanks before a colon are removed (RFC 9112 section 5.1), folded
// lines are joined, and a line that has no legal name is dropped. Framing says
// what that means for the message and its connection.
func (r *Response) Parse(head string) error {
	*r = Response{Fields: emptied(r.Fields, head)}
	r.judgeBytes(head)
	line, rest := anyLine(head)
	if err := r.statusLine(line); err != nil {
		return err
	}
	for rest != "" {
		line, rest = foldedLine(rest)
		if line == "" {
			return nil
		}
		f, ok := r.repairedField(line)
		if !ok {
			continue
		}
		if len(r.Fields) == MaxFields {
			return ErrHeadTooLarge
		}
		r.Fields = append(r.Fields, f)
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
	r.odd = r.odd || r.Reason != reason
	return nil
}

// repairedField parses a field line with the lines folded onto it. One without
// a legal name has no field, and neither has a folded line that follows the
// status line (RFC 9112 section 2.2).
func (r *Response) repairedField(line string) (f Field, ok bool) {
	name, value, colon := strings.Cut(line, ":")
	mended := hasControl(value) // line ends of folds too
	if mended {
		value = cleanValue(unfold(value))
	}
	f = Field{trimOWS(name), trimOWS(value)}
	ok = colon && line[0] != ' ' && line[0] != '\t' && isToken(f.Name)
	r.odd = r.odd || !ok || mended || len(f.Name) != len(name)
	switch {
	case !ok:
		r.doubtful = r.doubtful || namesFraming(name)
	case delimits(f.Name):
		r.doubtful = r.doubtful || mended || !isASCII(value)
	}
	return f, ok
}

// unfold joins the lines of a folded value by one blank each (RFC 9112 section
// 5.2). All at once: line by line, many of them would be copied over and over.
func unfold(s string) string {
	if strings.IndexByte(s, '\n') < 0 {
		return trimOWS(s)
	}
	var b strings.Builder
	for part := range strings.SplitSeq(s, "\n") {
		part = trimOWS(strings.TrimSuffix(part, "\r"))
		if part != "" && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(part)
	}
	return b.String()
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

// foldedLine cuts the first line off s together with the lines that continue
// it, the line ends between them included: what is folded onto a line that gets
// dropped must not end up in the field before it.
func foldedLine(s string) (line, rest string) {
	line, rest = anyLine(s)
	if line == "" || rest == "" || rest[0] != ' ' && rest[0] != '\t' {
		return line, rest
	}
	end := len(line)
	for rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
		var more string
		before := len(s) - len(rest)
		more, rest = anyLine(rest)
		end = before + len(more)
	}
	return s[:end], rest
}

// KeepAlive says whether the server leaves the connection open behind a
// message whose end is known.
func (r *Response) KeepAlive() bool {
	if r.Fields.HasToken("Connection", "close") || r.Fields.HasToken("Proxy-Connection", "close") {
		return false
	}
	return r.Minor >= 1 || r.Fields.HasToken("Connection", "keep-alive") || r.Fields.HasToken("Proxy-Connection", "keep-alive")
}
