package pool

import (
	"bufio"
	"bytes"
	"errors"
	"slices"
	"strings"
)

var errFields = errors.New("the row has more fields than the header")

// table is how a CSV file is to be read.
type table struct {
	comma   rune
	columns []string // what each means, "" for nothing
	ignored []string // the names of those
	header  string   // as it is written: files that were put together have it again
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
		t = table{comma: comma, header: line}
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

// readTable reads the rows of a CSV file with such a header. A row that cannot be
// used is skipped, columns that mean nothing here are ignored.
func (l *List) readTable(r *bufio.Reader, t table, env Env) error {
	l.Ignored = t.ignored
	rows := newRows(t.comma)
	return l.readLines(r, func(line string) {
		if text := strings.TrimSpace(line); text == "" || line[0] == '#' || text == t.header {
			return
		}
		refused := len(l.Skipped)
		l.addRow(t, rows, line, env)
		if t.mayBeComment(line) && !l.full {
			l.Skipped = l.Skipped[:refused]
		}
	})
}

// mayBeComment reports whether a line begins as comments do in lists. It is one if
// it is no proxy: a column in front of the address may hold anything.
func (t *table) mayBeComment(line string) bool {
	line = strings.TrimSpace(line)
	return line[0] == '#' || line[0] == ';' && t.comma != ';' || strings.HasPrefix(line, "//")
}

// isRule reports whether a row is the line below the header of a table in Markdown.
// No proxy is made of such characters.
func isRule(fields []string) bool {
	text := strings.Join(fields, "")
	return strings.Contains(text, "-") && strings.Trim(text, " -:") == ""
}

func (l *List) addRow(t table, rows *rows, line string, env Env) {
	fields, err := rows.fields(line)
	if err != nil {
		l.skip(err)
		return
	}
	if isRule(fields) {
		return
	}
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
