package config

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"swivel/cmd/swivel/internal/namedfile"
)

// misread is why a key of the file has no say; key "": why none has.
type misread struct {
	key string // section.key
	error
}

// Misread says whether an error of Load leaves open what the file says of a key,
// or, of "", what it says at all. Nothing is to be claimed about that then.
func Misread(err error, key string) bool {
	switch e := err.(type) {
	case misread:
		return e.key == "" || e.key == key
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			if Misread(one, key) {
				return true
			}
		}
	case interface{ Unwrap() error }:
		return Misread(e.Unwrap(), key)
	}
	return false
}

// readFile overlays the configuration with what a file says.
func (c *Config) readFile(path string) []error {
	text, err := namedfile.Read(path)
	if err != nil {
		return []error{misread{"", fmt.Errorf("config: cannot read %s: %w", path, err)}}
	}
	var document yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return []error{misread{"", fmt.Errorf("config: %s: %s", path, syntaxReason(err))}}
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return []error{misread{"", fmt.Errorf("config: %s: want one YAML document, but there is more behind a line of three dashes", path)}}
	}
	r := fileReader{path: path}
	for _, root := range document.Content { // none if it is empty
		if followed(root).Kind == yaml.ScalarNode && !isNull(root) || followed(root).Kind == yaml.SequenceNode {
			return []error{misread{"", fmt.Errorf("config: %s: line %d: want keys with a colon and a blank behind them, such as listen: 127.0.0.1:8484", path, root.Line)}}
		}
		r.section(root, reflect.ValueOf(c).Elem(), "")
	}
	return r.problems
}

// fileReader goes through a file and notes what it cannot use. It does by itself
// what the decoder does for structs, because that ends with the first value that
// a type of ours refuses, and names no keys.
type fileReader struct {
	path     string
	problems []error
	merges   int // how many anchors stand around what is read
}

func (r *fileReader) bad(n *yaml.Node, key, want string) {
	r.problems = append(r.problems, misread{key, fmt.Errorf("config: %s: line %d: %s: %s", r.path, n.Line, key, want)})
}

// section reads keys. Those that do not exist are refused: a misspelt one would be
// silently without effect.
func (r *fileReader) section(n *yaml.Node, into reflect.Value, prefix string) {
	if n = followed(n); isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.bad(n, prefix[:max(0, len(prefix)-1)], "want keys below it, such as "+into.Type().Field(0).Tag.Get("yaml"))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 { // first, because they yield
		if n.Content[i].Tag == "!!merge" {
			r.merge(n.Content[i+1], into, prefix)
		}
	}
	lines := map[string]int{} // where each key stands
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		if name.Tag == "!!merge" {
			continue
		}
		if first, twice := lines[name.Value]; twice {
			r.bad(name, prefix+name.Value, fmt.Sprintf("stands in line %d already", first))
			continue
		}
		lines[name.Value] = name.Line
		r.key(name, value, into, prefix)
	}
}

// maxMerges is how many anchors may stand for keys inside each other: one could
// hold itself.
const maxMerges = 10

// merge reads the keys that an anchor stands for.
func (r *fileReader) merge(n *yaml.Node, into reflect.Value, prefix string) {
	if r.merges++; r.merges > maxMerges {
		r.bad(n, prefix+"<<", "want fewer anchors inside each other")
		return
	}
	defer func() { r.merges-- }()
	if n = followed(n); n.Kind != yaml.SequenceNode {
		r.section(n, into, prefix)
		return
	}
	for _, one := range n.Content {
		r.section(one, into, prefix)
	}
}

func (r *fileReader) key(name, value *yaml.Node, into reflect.Value, prefix string) {
	var known []string
	for i := range into.NumField() {
		one := into.Type().Field(i).Tag.Get("yaml")
		if known = append(known, prefix+one); one != name.Value {
			continue
		}
		if field := into.Field(i); isSection(field.Type()) {
			r.section(value, field, prefix+name.Value+".")
		} else {
			r.value(value, field, prefix+name.Value)
		}
		return
	}
	unknown := prefix + name.Value
	r.problems = append(r.problems, fmt.Errorf("config: %s: line %d: unknown key %s%s", r.path, name.Line, unknown, meantKey(unknown, known)))
}

// value reads a value as the environment has it, but with YAML's spellings of
// numbers and booleans. One that is empty changes nothing.
func (r *fileReader) value(n *yaml.Node, field reflect.Value, key string) {
	if n = followed(n); isNull(n) {
		return
	}
	text, isText := field.Addr().Interface().(encoding.TextUnmarshaler)
	switch {
	case field.Kind() == reflect.Slice:
		r.list(n, field, key)
	case isText:
		if err := text.UnmarshalText([]byte(n.Value)); err != nil { // of what is no scalar: ""
			r.bad(n, key, err.Error())
		}
	case isNumber(field.Kind()) && leadingZero(n.Value): // octal to YAML 1.1 only
		r.bad(n, key, wanted(field.Kind())+" without zeros in front")
	case field.Kind() == reflect.Int && n.ShortTag() == "!!float", // whose fraction the decoder drops
		n.Decode(field.Addr().Interface()) != nil:
		r.bad(n, key, wanted(field.Kind()))
	}
}

// list takes a single value for a list of one.
func (r *fileReader) list(n *yaml.Node, field reflect.Value, key string) {
	items := n.Content
	switch n.Kind {
	case yaml.ScalarNode:
		items = []*yaml.Node{n}
	case yaml.MappingNode:
		r.bad(n, key, "want a list, such as [one, two]")
		return
	}
	before := len(r.problems)
	list := reflect.MakeSlice(field.Type(), len(items), len(items))
	for i, item := range items {
		r.value(item, list.Index(i), key)
	}
	if len(r.problems) == before {
		field.Set(list)
	}
}

// wanted says what a key of a kind takes.
func wanted(k reflect.Kind) string {
	switch k {
	case reflect.Int:
		return "want a whole number"
	case reflect.Float64:
		return "want a number"
	case reflect.Bool:
		return "want true or false"
	}
	return "want one value"
}

func isNumber(k reflect.Kind) bool { return k == reflect.Int || k == reflect.Float64 }

// leadingZero says whether a number begins with a zero that is not needed, as 010
// does: 8 to the decoder, and 10 to the environment and to most people.
func leadingZero(number string) bool {
	digits := strings.ReplaceAll(strings.TrimLeft(number, "+-"), "_", "")
	return len(digits) > 1 && digits[0] == '0' && '0' <= digits[1] && digits[1] <= '9'
}

// followed is what an alias stands for.
func followed(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// isNull says that there is nothing behind the colon.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
