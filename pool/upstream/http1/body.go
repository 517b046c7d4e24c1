package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

// ErrChunk says that chunked coding is malformed or that one of its lines is
// too long.
var ErrChunk = errors.New("http1: malformed chunk")

// maxChunkLine bounds a chunk-size line with its extensions and its end,
// maxTrailer the whole trailer section.
const (
	maxChunkLine = 4 << 10
	maxTrailer   = 16 << 10
)

// Body reads one message body and not a byte more. Reading gives the decoded
// bytes; io.ErrUnexpectedEOF when the connection ended early, ErrChunk when
// chunked coding is broken. The zero value is an empty body.
type Body struct {
	br      *bufio.Reader
	framing Framing
	left    int64 // of the body or of the chunk
	began   bool  // chunked: the first size line was read
	err     error
	trailer Fields
}

// NewBody returns the body that follows in br.
func NewBody(br *bufio.Reader, f Framing) *Body {
	b := &Body{}
	b.Reset(br, f)
	return b
}

// Reset makes b the body that follows in br.
func (b *Body) Reset(br *bufio.Reader, f Framing) {
	*b = Body{br: br, framing: f, left: f.Length}
	if f.Kind == NoBody || f.Kind == Length && f.Length == 0 {
		b.err = io.EOF
	}
}

// Ended says whether the body was read to its end, so that the next message
// may follow on the connection.
func (b *Body) Ended() bool { return b.br == nil || b.err == io.EOF && b.framing.Kind != UntilClose }

// Trailer returns the trailer fields of a chunked body once it has ended.
func (b *Body) Trailer() Fields { return b.trailer }

// Buffered says how many bytes the next Read can give without waiting.
func (b *Body) Buffered() int {
	switch {
	case b.br == nil || b.err != nil:
		return 0
	case b.framing.Kind == UntilClose:
		return b.br.Buffered()
	case b.framing.Kind == Chunked && b.left == 0:
		return b.bufferedChunk()
	}
	return int(min(int64(b.br.Buffered()), b.left))
}

// bufferedChunk looks behind the size line of the next chunk.
func (b *Body) bufferedChunk() int {
	p, _ := b.br.Peek(b.br.Buffered())
	if b.began {
		p = p[min(2, len(p)):]
	}
	line, data, ok := bytes.Cut(p, []byte("\r\n"))
	if !ok {
		return 0
	}
	n, err := chunkSize(string(line), b.framing.strict)
	if err != nil {
		return 0
	}
	return int(min(int64(len(data)), n))
}

// Read implements io.Reader.
func (b *Body) Read(p []byte) (int, error) {
	if b.br == nil {
		return 0, io.EOF
	}
	if b.err != nil {
		return 0, b.err
	}
	var n int
	switch b.framing.Kind {
	case UntilClose:
		n, b.err = b.br.Read(p)
	case Length:
		n, b.err = b.readLength(p)
	default:
		n, b.err = b.readChunked(p)
	}
	return n, b.err
}

func (b *Body) readLength(p []byte) (int, error) {
	n, err := b.part(p)
	if err == nil && b.left == 0 {
		err = io.EOF
	}
	return n, err
}

func (b *Body) readChunked(p []byte) (int, error) {
	if b.left == 0 {
		if err := b.nextChunk(); err != nil {
			return 0, err
		}
	}
	n, err := b.part(p)
	if err == nil && b.left == 0 && b.skipLastChunk() {
		err = io.EOF
	}
	return n, err
}

// skipLastChunk takes the end of the body if it is there already and has no
// trailer: data and end can then leave in one write.
func (b *Body) skipLastChunk() bool {
	const end = "\r\n0\r\n\r\n"
	if b.br.Buffered() < len(end) {
		return false
	}
	if p, _ := b.br.Peek(len(end)); string(p) != end {
		return false
	}
	_, _ = b.br.Discard(len(end))
	return true
}

// part reads from the body or chunk that left counts.
func (b *Body) part(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.br.Read(p)
	b.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// nextChunk reads up to the data of the next chunk; io.EOF after the last one
// and its trailer.
func (b *Body) nextChunk() error {
	if b.began {
		if err := b.expectCRLF(); err != nil {
			return err
		}
	}
	b.began = true
	line, err := b.line(maxChunkLine)
	if err != nil {
		return err
	}
	if b.left, err = chunkSize(string(line), b.framing.strict); err != nil {
		return err
	}
	if b.left == 0 {
		return b.readTrailer()
	}
	return nil
}

func (b *Body) expectCRLF() error {
	var end [2]byte
	if _, err := io.ReadFull(b.br, end[:]); err != nil {
		return unexpected(err)
	}
	if end != [2]byte{'\r', '\n'} {
		return ErrChunk
	}
	return nil
}

func (b *Body) readTrailer() error {
	for left := maxTrailer; ; {
		line, err := b.line(left)
		if err != nil {
			return err
		}
		if len(line) == 0 {
			return io.EOF
		}
		left -= len(line) + len("\r\n")
		f, err := strictField(string(line))
		switch {
		case err != nil && b.framing.strict:
			return ErrChunk
		case err == nil && !notInTrailer(f.Name):
			b.trailer = append(b.trailer, f)
		}
	}
}

// notInTrailer says whether a trailer field could mislead who merges it into
// the head: those for framing, routing, authentication and the format of the
// content (RFC 9110 section 6.5.1). They are dropped.
func notInTrailer(name string) bool {
	return isFraming(name) || hopByHop(name) || slices.ContainsFunc(headOnly, func(s string) bool {
		return equalFold(name, s)
	})
}

var headOnly = []string{
	"Host", "Trailer", "Expect", "Max-Forwards", "Authorization", "WWW-Authenticate", "Cookie", "Set-Cookie",
	"Content-Encoding", "Content-Type", "Content-Range", "Range", "Location", "Cache-Control",
}

// line reads a line that ends in CR LF, at most limit bytes with that. It is
// valid until the next read.
func (b *Body) line(limit int) ([]byte, error) {
	var held []byte // what did not fit br's buffer
	for {
		part, err := b.br.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return nil, unexpected(err)
		}
		if len(held)+len(part) > limit {
			return nil, ErrChunk
		}
		if err == nil && held == nil {
			return trimCRLF(part)
		}
		held = append(held, part...)
		if err == nil {
			return trimCRLF(held)
		}
	}
}

func trimCRLF(b []byte) ([]byte, error) {
	n := len(b)
	if n < 2 || b[n-2] != '\r' {
		return nil, ErrChunk
	}
	return b[:n-2], nil
}

// chunkSize parses "1a;extension". The size is hexadecimal digits only: no
// sign, no prefix, no blanks in front, and at most 15 of them, so that it
// cannot overflow. Some servers pad it with blanks; of a client, only what the
// grammar allows is accepted.
func chunkSize(line string, strict bool) (int64, error) {
	var n int64
	i := 0
	for ; i < len(line) && i < 16; i++ {
		d := unhex(line[i])
		if d < 0 {
			break
		}
		n = n<<4 | int64(d)
	}
	ext := line[i:]
	if i == 0 || i > 15 || hasControl(ext) || strict && !isChunkExt(ext) {
		return 0, ErrChunk
	}
	if ext = trimOWS(ext); ext != "" && ext[0] != ';' {
		return 0, ErrChunk
	}
	return n, nil
}

// isChunkExt says whether s is a chunk-ext of RFC 9112 section 7.1.1, that is
// any number of ;name, ;name=token and ;name="string".
func isChunkExt(s string) bool {
	for s != "" {
		s = trimLeftOWS(s)
		if s == "" || s[0] != ';' {
			return false
		}
		s = trimLeftOWS(s[1:])
		n := tokenLen(s)
		if n == 0 {
			return false
		}
		s = s[n:]
		value := trimLeftOWS(s)
		if value == "" || value[0] != '=' {
			continue
		}
		value = trimLeftOWS(value[1:])
		if n = max(tokenLen(value), quotedLen(value)); n == 0 {
			return false
		}
		s = value[n:]
	}
	return true
}

// quotedLen returns the length of the quoted-string that s begins with, or 0.
func quotedLen(s string) int {
	if s == "" || s[0] != '"' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
