package route

import "strings"

// separators stand between pairs; in "country-us" the - stands for a =.
const separators = "-+;,"

func separates(c byte) bool { return strings.IndexByte(separators, c) >= 0 }

// pair is a key with its value, as a text has them.
type pair struct {
	key   *key   // nil if the word is none
	word  string // the key as the client spelt it
	value string
}

// cutWord takes the word off a text that could be a key. rest begins with what
// ends the word.
func cutWord(text string) (word, rest string) {
	if i := strings.IndexAny(text, separators+"="); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// beginsPair says whether text begins with a known key and what announces its
// value. A flag needs none; then what follows it has to be a key, for a name or
// an id may well hold its word.
func beginsPair(text string) bool {
	word, rest := cutWord(text)
	k := lookup(word)
	if k == nil {
		return false
	}
	if !k.flag() {
		return rest != "" && (rest[0] == '-' || rest[0] == '=')
	}
	_, rest = cutTruth(rest)
	if rest == "" {
		return true
	}
	following, _ := cutWord(rest[1:])
	return lookup(following) != nil
}

// nextPair takes the first pair off text. more says that a separator came behind
// it, so that there has to be another.
func nextPair(text string) (p pair, rest string, more bool) {
	p.word, rest = cutWord(strings.TrimLeft(text, " \t"))
	p.word = strings.TrimRight(p.word, " \t")
	p.key = lookup(p.word)
	switch {
	case p.key == nil:
		return p, "", false
	case p.key.flag():
		p.value, rest = cutTruth(rest)
	case strings.HasPrefix(rest, "="):
		p.value, rest = cutValue(rest[1:], true)
	case strings.HasPrefix(rest, "-") && p.key.name == "session" && beginsPair(rest[1:]):
		// The id was left out, and this is the next key.
	case strings.HasPrefix(rest, "-"):
		p.value, rest = cutValue(rest[1:], p.key.name == "session")
	}
	p.value = strings.Trim(p.value, " \t")
	if rest == "" {
		return p, "", false
	}
	return p, rest[1:], true
}

// cutValue takes a value off text, which ends at a separator; if it may hold
// dashes, at a dash only when a pair begins behind it.
func cutValue(text string, dashes bool) (value, rest string) {
	for i := range len(text) {
		if !separates(text[i]) || dashes && text[i] == '-' && !beginsPair(text[i+1:]) {
			continue
		}
		return text[:i], text[i:]
	}
	return text, ""
}

// cutTruth takes the value of a flag off text; it is true when there is none.
func cutTruth(text string) (value, rest string) {
	if strings.HasPrefix(text, "=") {
		return cutValue(text[1:], false)
	}
	if strings.HasPrefix(text, "-") {
		value, rest = cutValue(text[1:], false)
		if _, ok := truth(value); ok {
			return value, rest
		}
	}
	return "true", text
}
