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
	// Odd is set when the framing was doubtful but usable, or the head was mended:
	// the connection must not carry another message.
	Odd bool
	// strict is set for a chunked request: its chunks must be flawless.
	strict bool
}

func (f Framing) statesLength() bool { return f.Kind == Length || f.Kind == NoBody && f.Told }

// ErrFraming says that the end of a response cannot be told for certain.
var ErrFraming = errors.New("http1: the length of the response is doubtful")

// Framing says how the request's body ends. Everything that could make two
// readers disagree is an *Error (RFC 9112 sections 6.1 and 6.3).
func (r *Request) Framing() (Framing, error) {
	te, coded := r.Fields.transferEncoding()
	length, given, err := r.Fields.contentLength(parseLength)
	switch {
	case coded && r.Minor == 0:
		return Framing{}, bad("Transfer-Encoding in an HTTP/1.0 request")
	case coded && given:
		return Framing{}, bad("both Content-Length and Transfer-Encoding")
	case coded && !equalFold(te, "chunked"):
		return Framing{}, refuseCoding(te)
	case coded:
		return Framing{Kind: Chunked, strict: true}, nil
	case err != nil:
		return Framing{}, err
	case given:
		return Framing{Kind: Length, Length: length}, nil
	}
	return Framing{Kind: NoBody}, nil
}

// refuseCoding tells a coding that is not known here (RFC 9112 section 6.1:
// 501) from a list that does not end in chunked, or holds it twice, so that
// nobody could find the end of the body (section 6.3: 400).
func refuseCoding(te string) error {
	last := strings.LastIndexByte(te, ',')
	if last < 0 || !equalFold(trimOWS(te[last+1:]), "chunked") || listHas(te[:last], "chunked") {
		return bad("chunked is not the last transfer coding, or not the only chunked")
	}
	return &Error{Status: 501, Text: "only the transfer coding chunked is known"}
}

// Framing says how the body of a response to a request of the given method
// ends. Its error is ErrFraming, which a head gets too that another reader may
// read as another message. One that had to be mended in any way is Odd.
func (r *Response) Framing(method string) (Framing, error) {
	if r.doubtful {
		return Framing{}, ErrFraming
	}
	f, err := r.framing(method)
	f.Odd = f.Odd || r.odd && err == nil
	return f, err
}

func (r *Response) framing(method string) (Framing, error) {
	te, coded := r.Fields.transferEncoding()
	// Old servers say so that they apply no coding (RFC 2616 section 3.6).
	plain := coded && equalFold(te, "identity")
	coded = coded && !plain
	length, given, err := r.Fields.contentLength(parseLengths)
	switch {
	case r.Status < 200, r.Status == 204, method == "CONNECT" && r.Status < 300:
		return Framing{Kind: NoBody}, nil
	case method == "HEAD", r.Status == 304:
		return Framing{Kind: NoBody, Told: given && !coded && err == nil}, nil
	case coded && (!equalFold(te, "chunked") || r.Minor == 0):
		return Framing{}, ErrFraming
	case coded:
		return Framing{Kind: Chunked, Odd: given}, nil
	case err != nil:
		return Framing{}, ErrFraming
	case given:
		return Framing{Kind: Length, Length: length, Odd: plain}, nil
	}
	return Framing{Kind: UntilClose, Odd: true}, nil
}

// transferEncoding joins all its lines, so that "chunked" hidden behind a
// second line is seen.
func (f Fields) transferEncoding() (value string, present bool) {
	for i := range f {
		if !equalFold(f[i].Name, "Transfer-Encoding") {
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
func (f Fields) contentLength(parse func(string) (int64, error)) (n int64, given bool, err error) {
	for i := range f {
		if !equalFold(f[i].Name, "Content-Length") {
			continue
		}
		v, err := parse(f[i].Value)
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

// parseLengths also takes "5, 5", which is what some server or proxy made of
// two equal lines (RFC 9112 section 6.3, rule 5).
func parseLengths(s string) (int64, error) {
	first, rest, more := strings.Cut(s, ",")
	n, err := parseLength(trimOWS(first))
	for err == nil && more {
		var item string
		var again int64
		item, rest, more = strings.Cut(rest, ",")
		if again, err = parseLength(trimOWS(item)); err == nil && again != n {
			err = bad("two different Content-Length values")
		}
	}
	return n, err
}
