package route

import (
	"slices"
	"strings"
)

// guessable are the names of keys that Slip looks for: those so long that few
// other words are one letter off.
var guessable = func() (names []string) {
	for name, k := range byName {
		if len(name) >= 6 || name == k.name && len(name) >= 4 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}()

// Slip looks for a routing key that somebody may have meant in the name that
// Parse found in front of the keys. It is a guess, since a name may hold any word;
// but who misspells his only key gets any proxy, without a word. The key is "" if
// there is none; missing says that it has no value, else it is one letter off.
func Slip(name string) (key string, missing bool) {
	for rest, first := name, true; rest != ""; first = false {
		var word string
		word, rest = cutWord(rest)
		if rest == "" {
			if i := indexFold(word); i >= 0 && !first && guessable[i] != "proxy" { // corp-proxy is a name
				return guessable[i], true
			}
			return "", false
		}
		announced := rest[0] == '-' || rest[0] == '='
		if rest = rest[1:]; rest == "" || !announced || isNoKey(word) {
			continue
		}
		for _, known := range guessable {
			if oneOff(word, known) {
				return known, false
			}
		}
	}
	return "", false
}

// isNoKey tells words that are one letter off a key, but stand in names for what
// they say: the group of an alias groups, and what is numbered, as proxy2.
func isNoKey(word string) bool {
	return strings.EqualFold(word, "group") || strings.ContainsAny(word, "0123456789")
}

func indexFold(word string) int {
	return slices.IndexFunc(guessable, func(known string) bool { return strings.EqualFold(word, known) })
}

// oneOff says whether a word becomes the other, which is in lower case, by one
// letter more, less or another, or by two that change places.
func oneOff(word, known string) bool {
	if d := len(word) - len(known); d < -1 || d > 1 {
		return false
	}
	for word != "" && known != "" && lower(word[0]) == known[0] {
		word, known = word[1:], known[1:]
	}
	for word != "" && known != "" && lower(word[len(word)-1]) == known[len(known)-1] {
		word, known = word[:len(word)-1], known[:len(known)-1]
	}
	if len(word) == 2 && len(known) == 2 {
		return lower(word[0]) == known[1] && lower(word[1]) == known[0]
	}
	return max(len(word), len(known)) == 1
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
