package pool

import (
	"errors"
	"strings"
)

var (
	errBareWord = errors.New("a word behind the address is no key=value: quote values that hold blanks, write a login as host:port:user:pass, put # in front of a comment")
	errQuote    = errors.New("a quoted value does not end, or goes on behind its quote")
)

// words is what is left of a line. Words stand between blanks; the line ends at
// a word that starts with #.
type words struct{ rest string }

// next takes the next word, "" at the end of the line.
func (w *words) next() string {
	w.rest = strings.TrimLeftFunc(w.rest, isBlank)
	if w.rest == "" || w.rest[0] == '#' {
		w.rest = ""
		return ""
	}
	word := w.rest
	if i := strings.IndexFunc(word, isBlank); i >= 0 {
		word = word[:i]
	}
	w.rest = w.rest[len(word):]
	return word
}

// pair takes the next key=value; the key is "" at the end of the line.
func (w *words) pair() (key, value string, err error) {
	w.rest = strings.TrimLeftFunc(w.rest, isBlank)
	line := w.rest
	word := w.next()
	if word == "" || isFlag(word) {
		return word, "true", nil
	}
	key, value, found := strings.Cut(word, "=")
	if !found || key == "" {
		return "", "", errBareWord
	}
	if !strings.HasPrefix(value, `"`) {
		return key, value, nil
	}
	value, w.rest, found = strings.Cut(line[len(key)+len(`="`):], `"`)
	if !found || strings.TrimLeftFunc(w.rest, isBlank) == w.rest && w.rest != "" {
		return "", "", errQuote
	}
	return key, value, nil
}
