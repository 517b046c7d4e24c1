package http1

import (
	"bufio"
	"bytes"
	"io"
)

// Body reads one message body and not a byte more. Reading gives the decoded
// bytes; io.ErrUnexpectedEOF when the connection ended early, ErrChunk when
// chunked coding is broken. The zero value is an empty body.
type Body struct {
	br      *bufio.Reader
	framing Framing
	left    int64 // of the body or of the chunk
	began   bool  // chunked: the first size line was read
	odd     bool  // chunked: a line was mended or dropped
	err     error
	trailer Fields
	drop    func(name string) bool // of the trailer
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

// Without has Trailer leave out the fields that drop likes, besides those that belong
// in no trailer. It holds until the next Reset; nil drops nothing.
func (b *Body) Without(drop func(name string) bool) { b.drop = drop }

// Ended says whether the body was read to its end, so that the next message
// may follow on the connection.
func (b *Body) Ended() bool { return b.br == nil || b.err == io.EOF && b.framing.Kind != UntilClose }

// Odd says whether chunked coding was mended in what has been read: the connection
// must not carry another message.
func (b *Body) Odd() bool { return b.odd }

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
	if b.left, err = chunkSize(string(line), true); err != nil && !b.framing.strict {
		b.odd = true
		b.left, err = chunkSize(string(line), false)
	}
	if err != nil {
		return err
	}
	if b.left == 0 {
		return b.readTrailer()
	}
	return nil
}

func (b *Body) expectCRLF() error {
	end, err := b.br.Peek(2)
	if err != nil {
		return unexpected(err)
	}
	if string(end) != "\r\n" {
		return ErrChunk
	}
	_, _ = b.br.Discard(2)
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
		case err != nil:
			b.odd = true
		case !notInTrailer(f.Name) && (b.drop == nil || !b.drop(f.Name)):
			b.trailer = append(b.trailer, f)
		}
	}
}

// line reads a line that ends in CR LF, at most limit bytes with that. It is
// valid until the next read.
func (b *Body) line(limit int) ([]byte, error) {
	var held []byte // what did not fit br's buffer
	for {
		part, err := b.br.ReadSlice('\n')
		switch {
		case len(held)+len(part) > limit:
			return nil, ErrChunk
		case err == nil && held == nil:
			return trimCRLF(part)
		case err == nil:
			return trimCRLF(append(held, part...))
		case err != bufio.ErrBufferFull:
			return nil, unexpected(err)
		}
		held = append(held, part...)
	}
}

func trimCRLF(b []byte) ([]byte, error) {
	n := len(b)
	if n < 2 || b[n-2] != '\r' {
		return nil, ErrChunk
	}
	return b[:n-2], nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
