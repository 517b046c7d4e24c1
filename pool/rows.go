package pool

import (
	"bufio"
	"encoding/csv"
	"errors"
	"strings"
)

var (
	errUnclosed    = errors.New("a quote is not closed on its line: close it, or, if it belongs to the field, put the field in quotes and double those inside")
	errBehindQuote = errors.New("a field goes on behind its closing quote: put the whole field in quotes, and double those inside")
	errBareQuote   = errors.New("there is a quote in a field without quotes around it, beside fields that have them: put the field in quotes, and double those inside")
)

// rows splits the rows of a CSV file, each by itself: no column of a proxy table needs
// a line break, and a quote that is not closed must not take in the rows behind it.
type rows struct {
	text   strings.Reader
	buffer *bufio.Reader // of csv, so that a line is all that it sees
	csv    *csv.Reader
	comma  string
}

func newRows(comma rune) *rows {
	r := &rows{comma: string(comma)}
	r.buffer = bufio.NewReader(&r.text)
	r.csv = csv.NewReader(r.buffer) // which takes a bufio.Reader as it is
	r.csv.Comma, r.csv.FieldsPerRecord, r.csv.ReuseRecord = comma, -1, true
	return r
}

// fields splits a line that is not blank; they are good until the next call. Where
// no field begins with a quote, as in tables that no program wrote, one is a
// character as any other.
func (r *rows) fields(line string) ([]string, error) {
	line = strings.TrimRight(line, "\r\n")
	if !strings.HasPrefix(line, `"`) && !strings.Contains(line, r.comma+`"`) {
		return strings.Split(line, r.comma), nil
	}
	r.text.Reset(line)
	r.buffer.Reset(&r.text)
	fields, err := r.csv.Read()
	var bad *csv.ParseError
	switch {
	case err == nil:
		return fields, nil
	case errors.Is(err, csv.ErrBareQuote):
		return nil, errBareQuote
	case errors.As(err, &bad) && bad.Column <= len(line):
		return nil, errBehindQuote
	}
	return nil, errUnclosed
}
