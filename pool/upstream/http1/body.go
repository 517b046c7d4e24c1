package http1

import (
	"bufio"
	"errors"
	"io"
)

// ErrChunk says that chunked coding is malformed.
var ErrChunk = errors.New("http1: malformed chunk")

// maxChunkLine bounds a chunk-size line with its extensions, maxTrailer the
// whole trailer section.
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

// Buffered says how many bytes the next Read gives without waiting.
func (b *Body) Buffered() int {
	if b.br == nil || b.err != nil {
		return 0
	}
	n := int64(b.br.Buffered())
	if b.framing.Kind != UntilClose {
		n = min(n, b.left)
	}
	return int(n)
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
	return b.part(p)
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
	if b.left, err = chunkSize(line); err != nil {
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
	for total := 0; ; {
		line, err := b.line(maxTrailer)
		if err != nil {
			return err
		}
		if line == "" {
			return io.EOF
		}
		if total += len(line); total > maxTrailer {
			return ErrHeadTooLarge
		}
		f, err := strictField(line)
		if err != nil {
			return ErrChunk
		}
		if !isFraming(f.Name) && !hopByHop(f.Name) {
			b.trailer = append(b.trailer, f)
		}
	}
}

// line reads a line that ends in CR LF.
func (b *Body) line(limit int) (string, error) {
	var held []byte
	for {
		part, err := b.br.ReadSlice('\n')
		if err == nil && held == nil {
			return trimCRLF(part)
		}
		held = append(held, part...)
		switch {
		case err == nil:
			return trimCRLF(held)
		case err != bufio.ErrBufferFull:
			return "", unexpected(err)
		case len(held) > limit:
			return "", ErrHeadTooLarge
		}
	}
}

func trimCRLF(b []byte) (string, error) {
	n := len(b)
	if n < 2 || b[n-2] != '\r' {
		return "", ErrChunk
	}
	return string(b[:n-2]), nil
}

// chunkSize parses "1a;extension". The size is hexadecimal digits only: no
// sign, no prefix, no blanks in front, and at most 15 of them, so that it
// cannot overflow.
func chunkSize(line string) (int64, error) {
	var n int64
	i := 0
	for ; i < len(line) && i < 16; i++ {
		d := unhex(line[i])
		if d < 0 {
			break
		}
		n = n<<4 | int64(d)
	}
	if i == 0 || i > 15 {
		return 0, ErrChunk
	}
	if ext := trimOWS(line[i:]); ext != "" && ext[0] != ';' || hasControl(line[i:]) {
		return 0, ErrChunk
	}
	return n, nil
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
