package pool

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"swivel/breaker"
	"swivel/pool/spelling"
)

// maxLine is how long a line may be, its end included: a longer one is not a
// proxy but some other file.
const maxLine = 64 << 10

// maxProxies bounds what port ranges can make of a short list: at some 800 bytes
// each, as members of a pool, this many take 400 MB.
const maxProxies = 500_000

// maxSkipped is how many lines may be refused before it is the file that is: any
// other file of some size would fill the memory with what is wrong with it.
const maxSkipped = 500_000

var (
	errLong    = errors.New("the line is longer than 64 KiB")
	errEndless = errors.New("a line does not end within 256 MiB: this is no proxy list")
	errTooMany = fmt.Errorf("the list has more than %d proxies: those from here on are not used", maxProxies)
	errNoList  = fmt.Errorf("more than %d lines cannot be used: this is no proxy list", maxSkipped)
)

// ErrNoProxies is what ParseList's error wraps when it found nothing usable.
var ErrNoProxies = errors.New("no usable proxy")

// List is what a proxy list says.
type List struct {
	Specs   []*Spec     // the proxies in the order of their first line, no two with the same identity
	Skipped []LineError // the lines that were refused, in order
	Lines   int         // lines read, with comments and blank ones
	Merged  int         // proxies that were exact duplicates of an earlier one

	Ranges    int        // lines with a range of ports
	Ranged    int        // the proxies that these became
	Templates []Template // lines whose credentials hold placeholders, in order
	Ignored   []string   // columns of a table, or fields of objects, that mean nothing here

	// Unfinished says that the last line has no line end. Many editors leave
	// it so, but a file that is still being written looks the same.
	Unfinished bool

	particular []lined            // the proxies that PlaceOf knows
	places     map[identity]Place // where they stand; nil until it is asked for
	element    int                // the one that was read last, of a JSON array

	full bool    // errTooMany was said
	line []*Spec // what a line became, in memory that is used again
}

// Template is a line with placeholders in its credentials.
type Template struct {
	Place
	Names []string // of the placeholders, without braces
}

// ParseList reads a proxy list, one proxy a line as ParseLine has it, with LF,
// CRLF or CR line ends. Lines that it cannot use are skipped and reported, exact
// duplicates merged as Merge does.
//
// A list that begins as a JSON array, as a configuration of Clash, or with the
// header of a CSV file, is read as such; what is said of lines then goes for
// elements and rows. All of them may be in base64, and lines are those inside.
//
// It fails when r does, without handing out the part it has read, likewise if an
// array is not whole or YAML is malformed, when more lines are refused than any
// list has, and with ErrNoProxies when nothing usable is left; then the List still
// says why.
func ParseList(r io.Reader, env Env) (List, error) {
	var list List
	if err := list.readAny(bufio.NewReaderSize(r, maxLine), &lineParser{env: env}); err != nil {
		return List{}, err
	}
	list.line = nil
	list.Specs, list.Merged = Merge(list.Specs)
	if len(list.Specs) == 0 {
		return list, list.noProxies()
	}
	return list, nil
}

// readLines hands every line to add, with its end.
func (l *List) readLines(r *bufio.Reader, add func(line string)) error {
	for {
		line, err := readLine(r)
		if err != nil && err != io.EOF && err != errLong {
			return fmt.Errorf("read the proxy list: %w", err)
		}
		if len(line) > 0 || err == errLong {
			atOnce.take(l.Lines)
			l.Lines++
			l.Unfinished = !bytes.HasSuffix(line, []byte("\n"))
		}
		switch {
		case err == errLong:
			l.skip(err)
		case len(line) > 0:
			add(string(line))
		}
		switch {
		case l.hopeless():
			return errNoList
		case err == io.EOF:
			return nil
		}
	}
}

// addLines takes in what are lines of a list, as ParseLine has them.
func (l *List) addLines(r *bufio.Reader, parser *lineParser) error {
	return l.readLines(r, func(line string) { l.add(parser, line) })
}

// add takes in a line.
func (l *List) add(parser *lineParser, line string) {
	if l.full {
		return
	}
	specs, err := parser.appendSpecs(l.line[:0], line)
	l.take(specs, err)
}

// addRecord takes in a row of a table, or an object.
func (l *List) addRecord(r *record, env Env) {
	if l.full {
		return
	}
	specs, err := r.appendSpecs(l.line[:0], env)
	l.take(specs, err)
}

// take keeps what a line became.
func (l *List) take(specs []*Spec, err error) {
	if err == nil && len(l.Specs)+len(specs) > maxProxies {
		err = errTooMany
	}
	if l.line = specs[:0]; err != nil {
		l.skip(err)
		return
	}
	l.Specs = append(l.Specs, specs...)
	l.note(specs)
	clear(specs)
}

// skip notes why the line that was read last is not used.
func (l *List) skip(reason error) {
	l.full = l.full || errors.Is(reason, errTooMany)
	l.Skipped = append(l.Skipped, LineError{l.here(), reason.Error()})
}

// hopeless says that so much was refused that there is no point in going on.
func (l *List) hopeless() bool { return len(l.Skipped) > maxSkipped }

// note counts what a line became.
func (l *List) note(specs []*Spec) {
	if len(specs) == 0 {
		return
	}
	if len(specs) > 1 {
		l.Ranges++
		l.Ranged += len(specs)
	}
	if names := specs[0].Placeholders(); names != nil {
		l.Templates = append(l.Templates, Template{l.here(), names})
	}
	if specs[0].CA == "" && specs[0].Breaker == (breaker.Overrides{}) {
		return
	}
	for _, s := range specs {
		l.particular = append(l.particular, lined{s, l.here()})
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
	for read := len(line); err == bufio.ErrBufferFull; read += len(line) {
		if read > maxHeld {
			return nil, errEndless
		}
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
		return fmt.Errorf("%w: read %s, all blank or comments", ErrNoProxies, spelling.Counted(l.Lines, "line", "lines"))
	}
	var reasons []string
	for _, e := range l.Skipped[:min(shown, len(l.Skipped))] {
		reasons = append(reasons, e.Error())
	}
	more := ""
	if n := len(l.Skipped) - len(reasons); n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	if len(l.Ignored) > 0 {
		more += "; columns that mean nothing here: " + strings.Join(l.Ignored[:min(shown, len(l.Ignored))], ", ")
	}
	return fmt.Errorf("%w: read %s, refused %d: %s%s",
		ErrNoProxies, spelling.Counted(l.Lines, "line", "lines"), len(l.Skipped), strings.Join(reasons, "; "), more)
}
