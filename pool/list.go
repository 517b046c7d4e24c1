package pool

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine is how long a line may be, its end included: a longer one is not a
// proxy but some other file.
const maxLine = 64 << 10

// maxProxies bounds what port ranges can make of a short list: at some 400 bytes
// each this many take 200 MB.
const maxProxies = 500_000

var (
	errLong    = errors.New("the line is longer than 64 KiB")
	errTooMany = fmt.Errorf("the list has more than %d proxies", maxProxies)
)

// ErrNoProxies is what ParseList's error wraps when it found nothing usable.
var ErrNoProxies = errors.New("no usable proxy")

// List is what a proxy list says.
type List struct {
	Specs   []Spec      // the proxies in the order of their first line, no two with the same identity
	Skipped []LineError // the lines that were refused, in order
	Lines   int         // lines read, with comments and blank ones
	Merged  int         // proxies that were exact duplicates of an earlier one

	Ranges    int        // lines with a range of ports
	Ranged    int        // the proxies that these became
	Templates []Template // lines whose credentials hold placeholders, in order

	// Unfinished says that the last line has no line end. Many editors leave
	// it so, but a file that is still being written looks the same.
	Unfinished bool
}

// Template is a line with placeholders in its credentials.
type Template struct {
	Line  int      // counted from 1
	Names []string // of the placeholders, without braces
}

// LineError is a line that was refused. It holds no credentials, nor any other
// text of the line but the names of an unknown scheme, key or variable.
type LineError struct {
	Line   int // counted from 1
	Reason string
}

// Error returns the line's number and the reason.
func (e LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// ParseList reads a proxy list, one proxy a line as ParseLine has it, with LF
// or CRLF line ends. Lines that it cannot use are skipped and reported, exact
// duplicates merged as Merge does.
//
// It fails when r does, without handing out the part it has read, and with
// ErrNoProxies when nothing usable is left; then the List still says why.
func ParseList(r io.Reader, env Env) (List, error) {
	var list List
	parser := lineParser{env: env}
	lines := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := readLine(lines)
		if err != nil && err != io.EOF && err != errLong {
			return List{}, fmt.Errorf("read the proxy list: %w", err)
		}
		if len(line) > 0 || err == errLong {
			list.Lines++
			list.Unfinished = !bytes.HasSuffix(line, []byte("\n"))
			list.add(&parser, line, err)
		}
		if err == io.EOF {
			break
		}
	}
	list.Specs, list.Merged = Merge(list.Specs)
	if len(list.Specs) == 0 {
		return list, list.noProxies()
	}
	return list, nil
}

// add takes in a line, or what came of reading it.
func (l *List) add(parser *lineParser, line []byte, err error) {
	before := len(l.Specs)
	if err != errLong {
		l.Specs, err = parser.appendSpecs(l.Specs, string(line))
	}
	if err != nil {
		l.Skipped = append(l.Skipped, LineError{Line: l.Lines, Reason: err.Error()})
	}
	l.note(l.Specs[before:])
}

// note counts what a line became.
func (l *List) note(specs []Spec) {
	if len(specs) == 0 {
		return
	}
	if len(specs) > 1 {
		l.Ranges++
		l.Ranged += len(specs)
	}
	if names := specs[0].Placeholders(); names != nil {
		l.Templates = append(l.Templates, Template{l.Lines, names})
	}
}

// readLine returns the next line with its end; the bytes are good until the
// next call. Of a line that is too long it returns the tail, which may be empty,
// and errLong. The last line comes with io.EOF, and may be empty.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	for err == bufio.ErrBufferFull {
		line, err = r.ReadSlice('\n')
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	return line, errLong // at the end of input the next call returns io.EOF
}

// noProxies says how much was read and why the first lines were refused.
func (l *List) noProxies() error {
	const shown = 3
	if len(l.Skipped) == 0 {
		return fmt.Errorf("%w: read %d lines, all blank or comments", ErrNoProxies, l.Lines)
	}
	var reasons []string
	for _, e := range l.Skipped[:min(shown, len(l.Skipped))] {
		reasons = append(reasons, e.Error())
	}
	more := ""
	if n := len(l.Skipped) - len(reasons); n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	return fmt.Errorf("%w: read %d lines, refused %d: %s%s",
		ErrNoProxies, l.Lines, len(l.Skipped), strings.Join(reasons, "; "), more)
}
