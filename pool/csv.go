package pool

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

var errFields = errors.New("the row has more fields than the header")

// table is how a CSV file is to be read.
type table struct {
	comma   rune
	columns []string // what each means, "" for nothing
	ignored []string // the names of those
}

// tableOf recognises a header: names of columns, separated by one of the usual
// characters, that tell where the proxies are.
func tableOf(line string) (t table, ok bool) {
	for _, comma := range ",;\t|" {
		names := strings.Split(line, string(comma))
		t = table{comma: comma}
		for _, name := range names {
			meaning, known := columnName(name)
			if !known {
				meaning = ""
				t.ignored = append(t.ignored, nameKey(strings.Trim(name, ` "`+"\r\n")))
			}
			t.columns = append(t.columns, meaning)
		}
		has := func(column string) bool { return slices.Contains(t.columns, column) }
		if len(names) > 1 && (has("address") || has("host") && has("port")) {
			return t, true
		}
	}
	return table{}, false
}

// readTable reads the rows of a CSV file whose header is the next line. A row
// that cannot be used is skipped, columns that mean nothing here are ignored.
func (l *List) readTable(r *bufio.Reader, t table, env Env) error {
	end := &lastByte{r: r}
	rows := csv.NewReader(end)
	rows.Comma, rows.Comment = t.comma, '#'
	rows.FieldsPerRecord, rows.LazyQuotes, rows.ReuseRecord = -1, true, true
	l.Ignored = t.ignored
	for header := true; ; header = false {
		fields, err := rows.Read()
		if err == io.EOF {
			l.Unfinished = end.b != '\n'
			return nil
		}
		if l.hopeless() {
			return errNoList
		}
		var bad *csv.ParseError
		if err != nil && !errors.As(err, &bad) {
			return fmt.Errorf("read the proxy list: %w", err)
		}
		if bad != nil {
			l.Lines = bad.Line
			l.skip(errors.New("the row is not CSV"))
			continue
		}
		if l.Lines, _ = rows.FieldPos(0); !header {
			l.addRow(t, fields, env)
		}
	}
}

func (l *List) addRow(t table, fields []string, env Env) {
	if len(fields) > len(t.columns) {
		l.skip(errFields)
		return
	}
	var r record
	for i, value := range fields {
		if name := t.columns[i]; name != "" && !r.set(name, value) {
			l.ignore(name)
		}
	}
	l.addRecord(&r, env)
}

// lastByte remembers how what it reads ends.
type lastByte struct {
	r io.Reader
	b byte
}

func (l *lastByte) Read(p []byte) (n int, err error) {
	if n, err = l.r.Read(p); n > 0 {
		l.b = p[n-1]
	}
	return n, err
}
