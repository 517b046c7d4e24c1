package config

import (
	"reflect"
	"slices"
	"strings"

	"swivel/pool/spelling"
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

// meantKey says what to do about a key of the file that is unknown beside the known
// ones: the nearest may be meant, or one of its name in a section. What is right but
// for the dot is written as YAML has it.
func meantKey(key string, known []string) string {
	if section, name, dotted := strings.Cut(key, "."); dotted && slices.Contains(keysOf(Config{}), key) {
		return "; write " + name + " indented in a line below " + section + ":"
	}
	if hint := meant(key, known); hint != "" {
		return hint
	}
	var elsewhere []string
	for _, one := range keysOf(Config{}) {
		if one[strings.LastIndex(one, ".")+1:] == key[strings.LastIndex(key, ".")+1:] {
			elsewhere = append(elsewhere, one)
		}
	}
	if elsewhere != nil {
		return "; is " + strings.Join(elsewhere, " or ") + " meant?"
	}
	return "; swivel config print shows all that there are"
}

// meant asks whether the nearest of the known names is meant, if one is near.
func meant(name string, known []string) string {
	near := spelling.Near(name, known)
	if near == "" {
		return ""
	}
	return "; is " + near + " meant?"
}
