package config

import (
	"bytes"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"swivel/cmd/swivel/internal/namedfile"
)

// Origins are what the values of a configuration came from.
type Origins struct {
	File  string // "": none
	Env   func(string) (string, bool)
	Flags map[string]bool // the keys that a flag has set
}

// Print returns the configuration as YAML in which every value that is not the
// default has a comment that says where it comes from. It holds no secret: of a
// user it shows the name. Addresses of lists are the caller's to make fit to be
// seen.
func (c Config) Print(o Origins) ([]byte, error) {
	users := slices.Clone(c.Users)
	for i, user := range users {
		name, _, _ := strings.Cut(user, ":")
		users[i] = name + ":REDACTED"
	}
	c.Users = users
	var tree yaml.Node
	if err := tree.Encode(c); err != nil {
		return nil, err
	}
	inFile := fileKeys(o.File)
	walk(reflect.ValueOf(c), "", func(key string, value reflect.Value, _ []int) {
		n := find(&tree, strings.Split(key, "."))
		if n == nil {
			return
		}
		if value.IsZero() && value.Kind() == reflect.String {
			n.SetString("") // an empty secret is none
		}
		if slices.Contains([]string{"listen", "admin", "canary.url", "targets.allow", "targets.deny"}, key) {
			hideUserinfo(n)
		}
		n.LineComment = o.origin(key, inFile)
		if n.Kind == yaml.SequenceNode {
			n.Style = yaml.FlowStyle
		}
	}, nil)
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	err := encoder.Encode(&tree)
	return b.Bytes(), err
}

// hideUserinfo hides addresses that may hold a password, where none belongs.
func hideUserinfo(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "@") {
		n.SetString("REDACTED")
	}
	for _, item := range n.Content {
		hideUserinfo(item)
	}
}

// origin is the last one that had a say; "" for the defaults.
func (o Origins) origin(key string, inFile map[string]bool) string {
	if o.Flags[key] {
		return "flag"
	}
	if _, ok := o.Env(variable(key)); ok {
		return variable(key)
	}
	if inFile[key] {
		return o.File
	}
	return ""
}

// fileKeys are the keys that stand in a file. What is wrong with it is told
// elsewhere.
func fileKeys(path string) map[string]bool {
	text, err := namedfile.Read(path)
	if err != nil {
		return nil
	}
	var tree map[string]any
	if yaml.Unmarshal(text, &tree) != nil {
		return nil
	}
	found := map[string]bool{}
	for key, value := range tree {
		found[key] = true
		if section, ok := value.(map[string]any); ok {
			for inner := range section {
				found[key+"."+inner] = true
			}
		}
	}
	return found
}

// find returns the value of a key.
func find(n *yaml.Node, path []string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != path[0] {
			continue
		}
		if len(path) == 1 {
			return n.Content[i+1]
		}
		return find(n.Content[i+1], path[1:])
	}
	return nil
}
