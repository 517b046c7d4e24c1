package pool

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Order says which byte order a list that begins so is in, nil if it is not
// UTF-16 with its mark: what Notepad calls Unicode, and PowerShell's > writes.
func utf16Order(start []byte) binary.ByteOrder {
	switch {
	case strings.HasPrefix(string(start), "\xff\xfe"):
		return binary.LittleEndian
	case strings.HasPrefix(string(start), "\xfe\xff"):
		return binary.BigEndian
	}
	return nil
}

// otherFile returns an error if a list that begins so is a file of a kind that has
// to be saved as text first.
func otherFile(start []byte) error {
	for _, kind := range [...]struct{ start, advice string }{
		{"PK\x03\x04", "this is a workbook or a zip archive, no text: save it as CSV, or unpack it"},
		{"\xd0\xcf\x11\xe0", "this is a workbook or a document, no text: save it as CSV"},
		{"\x1f\x8b", "this is compressed with gzip: unpack it"},
		{"{\\rtf", "this is a document (RTF): save it as plain text"},
	} {
		if strings.HasPrefix(string(start), kind.start) {
			return errors.New(kind.advice)
		}
	}
	return nil
}

// errZeros is that of a whole list, for of a file that lost its end to a power cut the
// system has kept the length, and zeros for its bytes.
var errZeros = errors.New("there are NUL bytes in it: this is no list, or a damaged one, as a power cut leaves it; write the file anew (UTF-16 is read if it begins with its mark)")

// withoutNUL reads text, and fails for good at a NUL byte.
type withoutNUL struct {
	r   io.Reader
	err error
}

func (w *withoutNUL) Read(p []byte) (n int, err error) {
	if w.err != nil {
		return 0, w.err
	}
	if n, err = w.r.Read(p); bytes.IndexByte(p[:n], 0) >= 0 {
		n, err = 0, errZeros
		w.err = err
	}
	return n, err
}

// fromUTF16 reads all of r, and returns a reader of the same text in UTF-8.
func fromUTF16(r *bufio.Reader, order binary.ByteOrder) (*bufio.Reader, error) {
	text, err := readAll(r, maxHeld, errHeld)
	if err != nil {
		return nil, err
	}
	units := make([]uint16, len(text)/2)
	for i := range units {
		units[i] = order.Uint16(text[2*i:])
	}
	return bufio.NewReaderSize(strings.NewReader(string(utf16.Decode(units))), maxLine), nil
}

// isBlank says whether words end at c: lines that were copied from a page have blanks
// of other widths too.
func isBlank(c rune) bool { return c == ' ' || c == '\t' || unicode.Is(unicode.Z, c) }

// trimmed returns a line without what cannot be seen at its ends, blanks and marks.
func trimmed(line string) string {
	return strings.TrimFunc(line, func(c rune) bool { return isBlank(c) || c == '\r' || c == '\n' || unicode.Is(unicode.Cf, c) })
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unquoted takes the quotes off a line that stands in them, and the comma behind
// them: so it is in a program's list. No line of a list begins and ends like that.
func unquoted(line string) string {
	if line[0] != '"' && line[0] != '\'' {
		return line
	}
	inside, found := strings.CutSuffix(strings.TrimSuffix(line[1:], ","), line[:1])
	if !found || strings.Contains(inside, line[:1]) {
		return line
	}
	return trimmed(inside)
}
