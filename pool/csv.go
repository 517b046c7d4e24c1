package pool

import (
	"bufio"
	"bytes"
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
	header  []string // as it is written: files that were put together have it again
}

// separators are the usual ones.
const separators = ",;\t|"

// separatorLine recognises the first line of a CSV file that tells Excel what stands
// between its fields: sep=; for a semicolon. It returns the separators that a header
// may have, and the length of the line, 0 if there is none.
func separatorLine(start []byte) (among string, length int) {
	end := bytes.IndexByte(start, '\n') + 1
	line := strings.Trim(string(start[:end]), "\"\r\n")
	if len(line) != len("sep=;") || !strings.EqualFold(line[:4], "sep=") || !strings.Contains(separators, line[4:]) {
		return separators, 0
	}
	return line[4:], end
}

// tableOf recognises a header: names of columns, separated by one of the characters,
// that tell where the proxies are.
func tableOf(line, separators string) (t table, ok bool) {
	for _, comma := range separators {
		names := strings.Split(line, string(comma))
		t = table{comma: comma}
		for _, name := range names {
			meaning, known := columnName(name)
			if name = strings.Trim(name, ` "`+"\r\n"); !known {
				meaning = ""
			}
			if !known && name != "" {
				t.ignored = append(t.ignored, nameKey(name))
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
	end, before := &lastByte{r: r}, l.Lines
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
			l.Lines = before + bad.Line
			l.skip(errors.New("the row is not CSV"))
			continue
		}
		line, _ := rows.FieldPos(0)
		l.Lines = before + line
		switch {
		case header:
			t.header = slices.Clone(fields)
		case !slices.Equal(fields, t.header) && !isRule(fields):
			l.addRow(t, fields, env)
		}
	}
}

// isRule reports whether a row is the line below the header of a table in Markdown.
func isRule(fields []string) bool {
	if len(fields) == 0 || !strings.Contains(fields[len(fields)/2], "--") {
		return false
	}
	return !slices.ContainsFunc(fields, func(f string) bool { return strings.Trim(f, " -:") != "" })
}

func (l *List) addRow(t table, fields []string, env Env) {
	for len(fields) > len(t.columns) && fields[len(fields)-1] == "" {
		fields = fields[:len(fields)-1] // a separator at the end of each row
	}
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
