package config

import (
	"reflect"
	"slices"
	"strings"
)

// Misspelt says of variables, as NAME or NAME=value, which begin like ours but are
// none, and which may be meant. They have no effect; but a list may have a use for
// them.
func Misspelt(environ []string) (warnings []string) {
	known := []string{EnvPrefix + "CONFIG"} // what the flag is, and no key
	for _, key := range keysOf(Config{}) {
		known = append(known, variable(key))
	}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, EnvPrefix) || slices.Contains(known, name) || isLink(name) {
			continue
		}
		warnings = append(warnings, name+" is no variable of swivel, and changes nothing"+meant(name, known))
	}
	slices.Sort(warnings)
	return warnings
}

// isLink says whether a variable is one that Kubernetes gives every container
// beside a service of the name swivel.
func isLink(name string) bool {
	rest := strings.TrimPrefix(name, EnvPrefix)
	return rest == "PORT" || strings.HasPrefix(rest, "PORT_") || strings.HasPrefix(rest, "SERVICE_")
}

// variable is the name that a key has in the environment.
func variable(key string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// keysOf are all that there are, as section.key.
func keysOf(c Config) (keys []string) {
	walk(reflect.ValueOf(c), "", func(key string, _ reflect.Value, _ []int) { keys = append(keys, key) }, nil)
	return keys
}

// meant asks whether the nearest of the known names is meant, if one is near.
func meant(name string, known []string) string {
	best, near := "", 3 // of edits that are no slip any more
	for _, one := range known {
		if d := distance(name, one); d < near {
			best, near = one, d
		}
	}
	if best == "" {
		return ""
	}
	return "; is " + best + " meant?"
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
