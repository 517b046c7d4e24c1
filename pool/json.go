package pool

import (
	"bufio"
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
	errObject  = errors.New("the line is no whole JSON object")
	errNested  = errors.New("the value is no text, number, true or false")
)

// isJSON says whether a list that begins so is JSON. A list line can begin with a
// bracket too, if it is an IPv6 address, and with a brace, if it is a template.
func isJSON(start []byte) bool {
	start = bytes.TrimLeft(start, " \t\r\n")
	if len(start) == 0 || start[0] != '[' && start[0] != '{' {
		return false
	}
	rest := bytes.TrimLeft(start[1:], " \t\r\n")
	return len(rest) > 0 && (rest[0] == '"' || start[0] == '[' && (rest[0] == '{' || rest[0] == ']'))
}

// readJSON reads an array of texts, each a line of a list, and of objects, each
// a proxy by its fields; an object that such an array stands in, as vendors' APIs
// answer; or such objects one behind the other. An element that cannot be used is
// skipped, and so are fields that mean nothing here; but JSON that is not whole is an
// error, for it may still be in the making. Of objects one a line only the last line may.
func (l *List) readJSON(r io.Reader, parser *lineParser) error {
	text, err := readAll(r, maxHeld, errHeld)
	if err != nil {
		return err
	}
	before := *l
	l.Lines = 1
	text, found := arrayIn(text)
	if found {
		return l.readArray(text, parser)
	}
	if err = l.readStream(text, parser); err != nil && err != errNoList && beginsWithObject(text) {
		*l = before
		return l.readObjects(text, parser)
	}
	return err
}

// readStream reads objects one behind the other, whatever is a line.
func (l *List) readStream(text []byte, parser *lineParser) error {
	elements := json.NewDecoder(bytes.NewReader(text))
	if err := l.readElements(elements, text, parser); err != nil {
		return err
	}
	l.Unfinished = !bytes.HasSuffix(text, []byte("\n"))
	return l.nothingBehind(text[elements.InputOffset():])
}

// beginsWithObject says whether the first line is a whole object: nothing is around
// those on the other lines then.
func beginsWithObject(text []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(text, " \t\r\n"), []byte("\n"))
	return line[0] == '{' && json.Valid(line)
}

// readObjects reads objects one a line, among which a line is broken. If it is the
// last one, and has no end, the file is half written.
func (l *List) readObjects(text []byte, parser *lineParser) error {
	broken := 0
	err := l.readLines(bufio.NewReaderSize(bytes.NewReader(text), maxLine), func(line string) {
		raw := json.RawMessage(strings.TrimSpace(line))
		switch {
		case len(raw) == 0:
		case json.Valid(raw):
			l.addElement(raw, parser)
		default:
			broken = l.Lines
			l.skip(errObject)
		}
	})
	if err == nil && l.Unfinished && broken == l.Lines {
		return l.notWhole()
	}
	return err
}

// arrayIn returns the array of proxies, with what stands before it blanked: line
// ends count. It is not found where objects stand one behind the other.
func arrayIn(text []byte) (array []byte, found bool) {
	if bytes.TrimLeft(text, " \t\r\n")[0] == '[' {
		return text, true
	}
	var answer map[string]json.RawMessage
	if json.Unmarshal(text, &answer) != nil {
		return text, false
	}
	for _, name := range [...]string{"proxies", "results", "data", "items", "list", "proxy_list"} {
		if inside, ok := answer[name]; ok && (inside[0] == '[' || inside[0] == '{') {
			at := bytes.Index(text, inside)
			before := bytes.Repeat([]byte("\n"), bytes.Count(text[:at], []byte("\n")))
			return arrayIn(append(before, inside...))
		}
	}
	return text, false
}

func (l *List) readArray(text []byte, parser *lineParser) error {
	elements := json.NewDecoder(bytes.NewReader(text))
	_, _ = elements.Token() // the bracket
	if err := l.readElements(elements, text, parser); err != nil {
		return err
	}
	if _, err := elements.Token(); err != nil {
		return l.notWhole()
	}
	return l.nothingBehind(text[elements.InputOffset():])
}

func (l *List) nothingBehind(rest []byte) error {
	if len(bytes.TrimSpace(rest)) > 0 {
		return l.notWhole()
	}
	return nil
}

// readElements reads what stands in an array, or one behind the other.
func (l *List) readElements(elements *json.Decoder, text []byte, parser *lineParser) error {
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
	l.Lines += bytes.Count(bytes.TrimRight(text[counted:], "\n"), []byte("\n"))
	return nil
}

func (l *List) notWhole() error {
	return fmt.Errorf("behind %s the JSON is malformed, or not complete", l.here())
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
			switch {
			case !ok && name == "type", ok && !r.set(name, text):
				l.ignore(key)
			case !ok || several && len(values) > 1 && !slices.Contains(plural, name):
				return nil, fmt.Errorf("%s: %w", nameKey(key), errNested)
			}
		}
	}
	return r, nil
}

// plural are the fields that may have several values.
var plural = []string{"tag", "protocols", "type"}

// plainText is a value of JSON as a list line would have it; null is nothing.
func plainText(value any) (text string, ok bool) {
	switch v := value.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case json.Number:
		return strings.TrimSuffix(v.String(), ".0"), true // tables with gaps have 7001.0 for 7001
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
