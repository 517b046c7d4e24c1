package pool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

var (
	errElement = errors.New("the element is neither a text, as a line of a list, nor an object")
	errNested  = errors.New("the value is no text, number, true or false")
)

// isJSON says whether a list that begins so is a JSON array. A list line can
// begin with a bracket too, if it is an IPv6 address.
func isJSON(start []byte) bool {
	rest, found := bytes.CutPrefix(bytes.TrimLeft(start, " \t\r\n"), []byte("["))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return found && len(rest) > 0 && bytes.IndexByte([]byte(`"{]`), rest[0]) >= 0
}

// readJSON reads an array of texts, each a line of a list, and of objects, each
// a proxy by its fields. An element that cannot be used is skipped, and so are
// fields that mean nothing here; but an array that is not whole is an error, for
// it may still be in the making.
func (l *List) readJSON(r io.Reader, parser *lineParser) error {
	text, err := readAll(r, maxHeld, errHeld)
	if err != nil {
		return err
	}
	elements := json.NewDecoder(bytes.NewReader(text))
	_, _ = elements.Token() // the bracket
	l.Lines = 1
	counted := 0 // up to here the line ends are counted
	for elements.More() {
		var raw json.RawMessage
		if err := elements.Decode(&raw); err != nil {
			return l.notWhole()
		}
		start := int(elements.InputOffset()) - len(raw)
		l.Lines += bytes.Count(text[counted:start], []byte("\n"))
		counted = start
		l.element++
		if l.addElement(raw, parser); l.hopeless() {
			return errNoList
		}
	}
	if _, err := elements.Token(); err != nil || len(bytes.TrimSpace(text[elements.InputOffset():])) > 0 {
		return l.notWhole()
	}
	l.Lines += bytes.Count(bytes.TrimRight(text[counted:], "\n"), []byte("\n"))
	return nil
}

func (l *List) notWhole() error {
	return fmt.Errorf("behind %s the JSON array is malformed, or not complete", l.here())
}

func (l *List) addElement(raw json.RawMessage, parser *lineParser) {
	switch raw[0] {
	case '"':
		var line string
		_ = json.Unmarshal(raw, &line) // the decoder has seen that it is one
		l.add(parser, line)
	case '{':
		r, err := l.recordOf(raw)
		if err != nil {
			l.skip(err)
			return
		}
		l.addRecord(r, parser.env)
	default:
		l.skip(errElement)
	}
}

// recordOf reads an object.
func (l *List) recordOf(raw json.RawMessage) (*record, error) {
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return nil, errElement
	}
	r := &record{}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		name, known := columnName(key)
		if !known {
			l.ignore(key)
			continue
		}
		values, several := fields[key].([]any)
		if !several {
			values = []any{fields[key]}
		}
		for _, value := range values {
			text, ok := plainText(value)
			if !ok || several && name != "tag" && len(values) > 1 {
				return nil, fmt.Errorf("%s: %w", nameKey(key), errNested)
			}
			r.set(name, text)
		}
	}
	return r, nil
}

// plainText is a value of JSON as a list line would have it; null is nothing.
func plainText(value any) (text string, ok bool) {
	switch v := value.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return fmt.Sprint(v), true
	}
	return "", false
}

// ignore notes a field that means nothing here, once.
func (l *List) ignore(key string) {
	const most = 20 // names that are told
	name := nameKey(strings.TrimSpace(key))
	if len(l.Ignored) < most && !slices.Contains(l.Ignored, name) {
		l.Ignored = append(l.Ignored, name)
	}
}
