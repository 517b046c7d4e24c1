package http1

import (
	"errors"
	"strconv"
	"strings"
)

// Kind is how the end of a message body is found.
type Kind uint8

// The kinds of RFC 9112 section 6.3.
const (
	NoBody     Kind = iota // the head is all
	Length                 // Content-Length bytes
	Chunked                // chunked transfer coding
	UntilClose             // a response that ends with its connection
)

// Framing is how a body is delimited. Length is meaningful for Kind Length.
type Framing struct {
	Kind   Kind
	Length int64
	// Told is set for a message without a body that states the length its body
	// would have (a response to HEAD, a 304).
	Told bool
	// Odd is set when the framing was doubtful but usable: the connection must
	// not carry another message.
	Odd bool
}

func (f Framing) statesLength() bool { return f.Kind == Length || f.Kind == NoBody && f.Told }

// ErrFraming says that the end of a response cannot be told for certain.
var ErrFraming = errors.New("http1: the length of the response is doubtful")

// Framing says how the request's body ends. Everything that could make two
// readers disagree is an *Error (RFC 9112 sections 6.1 and 6.3).
func (r *Request) Framing() (Framing, error) {
	te, coded := r.Fields.transferEncoding()
	length, given, err := r.Fields.contentLength()
	switch {
	case coded && r.Minor == 0:
		return Framing{}, bad("Transfer-Encoding in an HTTP/1.0 request")
	case coded && given:
		return Framing{}, bad("both Content-Length and Transfer-Encoding")
	case coded && !strings.EqualFold(te, "chunked"):
		return Framing{}, &Error{Status: 501, Text: "only the transfer coding chunked is known"}
	case coded:
		return Framing{Kind: Chunked}, nil
	case err != nil:
		return Framing{}, err
	case given:
		return Framing{Kind: Length, Length: length}, nil
	}
	return Framing{Kind: NoBody}, nil
}

// Framing says how the body of a response to a request of the given method
// ends. Its error is ErrFraming.
func (r *Response) Framing(method string) (Framing, error) {
	te, coded := r.Fields.transferEncoding()
	length, given, err := r.Fields.contentLength()
	switch {
	case r.Status < 200, r.Status == 204:
		return Framing{Kind: NoBody}, nil
	case method == "HEAD", r.Status == 304:
		return Framing{Kind: NoBody, Told: given && !coded && err == nil}, nil
	case coded && (!strings.EqualFold(te, "chunked") || r.Minor == 0):
		return Framing{}, ErrFraming
	case coded:
		return Framing{Kind: Chunked, Odd: given}, nil
	case err != nil:
		return Framing{}, ErrFraming
	case given:
		return Framing{Kind: Length, Length: length}, nil
	}
	return Framing{Kind: UntilClose, Odd: true}, nil
}

// transferEncoding joins all its lines, so that "chunked" hidden behind a
// second line is seen.
func (f Fields) transferEncoding() (value string, present bool) {
	for i := range f {
		if !strings.EqualFold(f[i].Name, "Transfer-Encoding") {
			continue
		}
		if present {
			value += ", " + f[i].Value
		} else {
			value, present = f[i].Value, true
		}
	}
	return value, present
}

// contentLength returns the one value that all Content-Length lines agree on.
func (f Fields) contentLength() (n int64, given bool, err error) {
	for i := range f {
		if !strings.EqualFold(f[i].Name, "Content-Length") {
			continue
		}
		v, err := parseLength(f[i].Value)
		if err != nil {
			return 0, true, err
		}
		if given && v != n {
			return 0, true, bad("two different Content-Length values")
		}
		n, given = v, true
	}
	return n, given, nil
}

func parseLength(s string) (int64, error) {
	for i := 0; i < len(s); i++ {
		if !digit(s[i]) {
			return 0, bad("Content-Length is not a number")
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, bad("Content-Length is not a number")
	}
	return n, nil
}
