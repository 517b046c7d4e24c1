// Package spelling finds the word that somebody meant who mistyped it, a key of a
// list line or of the configuration, a scheme, and the form of a word that goes with
// a number. It holds no state.
//
//	spelling.Near("wieght", []string{"name", "weight"}) // "weight"
//	spelling.Counted(1, "proxy", "proxies")             // "1 proxy"
package spelling

import (
	"strconv"
	"strings"
)

// most is how many edits lead to what is near.
const most = 2

// Near returns the known word that is nearest to word, "" if none is near. Near is
// what no more than two edits lead to, and no more than one for every three letters
// of the known word, or any two letters would be near to ca. Case does not matter.
func Near(word string, known []string) string {
	best, least := "", most+1
	word = strings.ToLower(word)
	for _, one := range known {
		if longer := len(word) - len(one); longer < -most || longer > most {
			continue // a word can be long, and there can be many of them
		}
		if d := distance(word, strings.ToLower(one)); d < least && d <= len(one)/3 {
			best, least = one, d
		}
	}
	return best
}

// distance is how many letters have to be changed, added or left out (V.
// Levenshtein, 1965).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal, row[j+1] = row[j+1], min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Counted is a number of things, by the word for one of them or for several.
func Counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + several
}
