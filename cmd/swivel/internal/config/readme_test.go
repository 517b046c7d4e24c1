package config

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestReadmeShowsEveryKeyWithItsDefault: whoever copies the block and changes
// one line gets what the other lines say, and finds every key.
func TestReadmeShowsEveryKeyWithItsDefault(t *testing.T) {
	text, err := os.ReadFile("../../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), "\n```yaml\n")
	block, _, ended := strings.Cut(block, "\n```\n")
	if !found || !ended {
		t.Fatal("README.md has no block of YAML")
	}
	shown, err := Load(Config{}, file(t, block), environment{}.lookup)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	// There is no default for the first; none is written [] for the others.
	want.Proxies, want.Bans.Statuses, want.Users = shown.Proxies, []int{}, []string{}
	want.Attempts.RetryStatuses = []int{}
	want.Targets.Allow, want.Targets.Deny = []string{}, []string{}
	if !reflect.DeepEqual(shown, want) {
		t.Errorf("README.md has\n%+v\nthe defaults are\n%+v", shown, want)
	}
	var tree yaml.Node
	if err := yaml.Unmarshal([]byte(block), &tree); err != nil {
		t.Fatal(err)
	}
	keys(reflect.ValueOf(want), nil, func(path []string, _ reflect.Value) {
		if !stands(tree.Content[0], path) {
			t.Errorf("README.md does not show %s", strings.Join(path, "."))
		}
	})
}

// stands says whether a mapping has the key.
func stands(n *yaml.Node, path []string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == path[0] {
			return len(path) == 1 || stands(n.Content[i+1], path[1:])
		}
	}
	return false
}
