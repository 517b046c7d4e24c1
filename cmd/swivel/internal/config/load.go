package config

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
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
		problems = c.readFile(path)
		c.yieldToken(lookup)
	}
	overlay(reflect.ValueOf(&c).Elem(), EnvPrefix, lookup, &problems)
	return c, errors.Join(problems...)
}

// yieldToken forgets the admin token of the file when the environment names
// another: it may do so by the other key of the two. An empty variable names none,
// and so does not open what the file has locked.
func (c *Config) yieldToken(lookup func(string) (string, bool)) {
	if token, _ := lookup(EnvPrefix + "ADMIN_TOKEN"); token != "" {
		c.AdminTokenFile = ""
	}
	if file, _ := lookup(EnvPrefix + "ADMIN_TOKEN_FILE"); file != "" {
		c.AdminToken = ""
	}
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
