package config

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// EnvPrefix begins the name of every environment variable that is read.
const EnvPrefix = "SWIVEL_"

// Load overlays the defaults with the file (path "" for none) and with the
// environment. The result is not validated yet, so that flags can follow. Its
// error holds all problems, joined.
func Load(defaults Config, path string, lookup func(string) (string, bool)) (Config, error) {
	c := defaults
	var problems []error
	if path != "" {
		if err := c.readFile(path); err != nil {
			problems = append(problems, err)
		}
	}
	overlay(reflect.ValueOf(&c).Elem(), EnvPrefix, lookup, &problems)
	return c, errors.Join(problems...)
}

// readFile refuses keys that do not exist: a misspelt one would be silently
// without effect.
func (c *Config) readFile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("config: cannot read %s: %w", path, plain(err))
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("config: %s: %s", path, yamlReason(err))
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("config: %s: want one YAML document, but there is more behind a line of three dashes", path)
	}
	return nil
}

// yamlReason puts the problems that the decoder found into one line each.
func yamlReason(err error) string {
	var many *yaml.TypeError
	if !errors.As(err, &many) {
		return strings.TrimPrefix(err.Error(), "yaml: ")
	}
	lines := make([]string, len(many.Errors))
	for i, e := range many.Errors {
		if head, _, ok := strings.Cut(e, " not found in type "); ok {
			e = strings.Replace(head, "field ", "unknown key ", 1)
		}
		lines[i] = e
	}
	return strings.Join(lines, "; ")
}

// plain cuts the operation and path off an error of the os package.
func plain(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// overlay sets every field whose variable is set.
func overlay(v reflect.Value, prefix string, lookup func(string) (string, bool), problems *[]error) {
	for i := range v.NumField() {
		key := v.Type().Field(i).Tag.Get("yaml")
		name := prefix + strings.ToUpper(key)
		field := v.Field(i)
		if isSection(field.Type()) {
			overlay(field, name+"_", lookup, problems)
			continue
		}
		text, ok := lookup(name)
		if !ok {
			continue
		}
		if err := set(field, text); err != nil {
			*problems = append(*problems, fmt.Errorf("%s: %w", name, err))
		}
	}
}

// isSection says whether a field holds keys, and is none itself.
func isSection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func set(field reflect.Value, text string) error {
	if u, ok := field.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return errors.New("want a whole number")
		}
		field.SetInt(int64(n))
	case reflect.Float64:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return errors.New("want a number")
		}
		field.SetFloat(n)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("want true or false")
		}
		field.SetBool(b)
	case reflect.Slice:
		return setList(field, items(text))
	}
	return nil
}

// setList sets a list of strings or of whole numbers.
func setList(field reflect.Value, items []string) error {
	list := reflect.MakeSlice(field.Type(), len(items), len(items))
	for i, item := range items {
		if err := set(list.Index(i), item); err != nil {
			return err
		}
	}
	field.Set(list)
	return nil
}

// items takes a list apart at its commas; blanks around them are no part of an
// item, and nothing between them is none.
func items(text string) (all []string) {
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			all = append(all, item)
		}
	}
	return all
}
