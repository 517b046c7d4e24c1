package pool

import (
	"bufio"
	"bytes"
)

// readAny looks at how the list begins and reads it.
func (l *List) readAny(r *bufio.Reader, parser *lineParser) error {
	const mark = "\ufeff"
	start, _ := r.Peek(8) // the marks of kinds of files are shorter
	if err := otherFile(start); err != nil {
		return err
	}
	if order := utf16Order(start); order != nil {
		var err error
		if r, err = fromUTF16(r, order); err != nil {
			return err
		}
	}
	r = bufio.NewReaderSize(&withoutNUL{r: r}, maxLine)
	if start, _ := r.Peek(len(mark)); string(start) == mark {
		_, _ = r.Discard(len(mark))
	}
	if start, _ := r.Peek(look); isBase64(start) {
		return l.readSubscription(r, parser)
	}
	return l.readText(r, parser)
}

// look is how much of a list tells what it is.
const look = 4 << 10

// readText is read for what is not in base64.
func (l *List) readText(r *bufio.Reader, parser *lineParser) error {
	start, _ := r.Peek(look) // an error comes again when it is read
	if endsWithCR(start) {
		r = bufio.NewReaderSize(crLines{r}, maxLine)
		start, _ = r.Peek(look)
	}
	separators, length := separatorLine(start)
	if length > 0 {
		_, _ = r.Discard(length)
		start = start[length:]
		l.Lines++
	}
	switch {
	case isPage(start):
		return errPage
	case isJSON(start):
		return l.readJSON(r, parser)
	case isClash(start):
		return l.readClash(r, parser.env)
	}
	if t, ok := tableOf(firstLine(start), separators); ok {
		return l.readTable(r, t, parser.env)
	}
	return l.addLines(r, parser)
}

// firstLine returns the first line of text that is neither blank nor a comment.
func firstLine(text []byte) string {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return string(line)
		}
	}
	return ""
}
