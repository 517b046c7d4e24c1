package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrHeadTooLarge says that a head did not end within the limit. The first
// line alone being too long is ErrLineTooLong, because the client is told
// different things (431 and 414).
var (
	ErrHeadTooLarge = errors.New("http1: head is larger than the limit")
	ErrLineTooLong  = errors.New("http1: first line is longer than the limit")
)

// ReadHead reads one message head: the start line and the field lines up to
// and including the empty line. What follows stays in br. The head is at most
// limit bytes long. io.EOF means that br ended before the first byte,
// io.ErrUnexpectedEOF that it ended inside the head.
//
// The head comes as one string so that every method, name and value cut out of
// it costs no further allocation and may be kept.
func ReadHead(br *bufio.Reader, limit int) (string, error) {
	var held []byte // what did not fit br's buffer
	seen := 0       // bytes of the buffered part that hold no end of head
	for {
		part, _ := br.Peek(br.Buffered())
		if len(held) == 0 {
			if end := headEnd(part, seen); end > 0 && end <= limit {
				head := string(part[:end])
				_, _ = br.Discard(end)
				return head, nil
			}
			seen = max(0, len(part)-2)
		}
		if len(held) > 0 || len(part) == br.Size() {
			old := len(held)
			held = append(held, part...)
			if end := headEnd(held, max(0, old-2)); end > 0 && end <= limit {
				_, _ = br.Discard(end - old)
				return string(held[:end]), nil
			}
			_, _ = br.Discard(len(part))
		}
		if size := max(len(held), len(part)); size >= limit {
			return "", tooLarge(held, part, limit)
		}
		if err := more(br, len(held) > 0); err != nil {
			return "", err
		}
	}
}

// more waits until br holds a byte that has not been looked at.
func more(br *bufio.Reader, began bool) error {
	n := br.Buffered()
	if _, err := br.Peek(n + 1); err != nil {
		if err == io.EOF && (began || n > 0) {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	return nil
}

// tooLarge looks no further than the limit: what is buffered behind it came by
// chance.
func tooLarge(held, part []byte, limit int) error {
	if len(held) == 0 {
		held = part
	}
	if bytes.IndexByte(held[:limit], '\n') < 0 {
		return ErrLineTooLong
	}
	return ErrHeadTooLarge
}

// headEnd returns the length of the head that b starts with, or 0. An empty
// line ends it, with or without its CR: whether a bare LF is acceptable is for
// the parser to say, but it must not be able to hide where the head ends.
func headEnd(b []byte, from int) int {
	for i := from; i < len(b); {
		j := bytes.IndexByte(b[i:], '\n')
		if j < 0 {
			return 0
		}
		i += j + 1
		switch {
		case i < len(b) && b[i] == '\n':
			return i + 1
		case i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n':
			return i + 2
		}
	}
	return 0
}

// maxBlankLines is how many empty lines SkipBlankLines takes.
const maxBlankLines = 4

// SkipBlankLines discards empty lines in front of a request line, as RFC 9112
// section 2.2 asks of a server; old clients send one behind a POST body. It
// waits for what follows them: after nil, br has at least one byte buffered.
// A bare CR or LF is no empty line and is left for the parser to refuse.
func SkipBlankLines(br *bufio.Reader) error {
	for skipped := 0; ; skipped++ {
		b, err := br.Peek(1)
		if err != nil {
			return err
		}
		if b[0] != '\r' || skipped == maxBlankLines {
			return nil
		}
		if b, err = br.Peek(2); err != nil {
			return err
		}
		if b[1] != '\n' {
			return nil
		}
		_, _ = br.Discard(2)
	}
}
