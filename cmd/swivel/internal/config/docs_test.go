package config

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"swivel/pool"
)

var update = flag.Bool("update", false, "write docs/configuration.md anew")

// root is where the module is.
const root = "../../../../"

// said are the comments of config.go: of structs by their name, of fields by
// struct and key.
func said(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "config.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE {
			continue
		}
		spec := group.Specs[0].(*ast.TypeSpec)
		comments[spec.Name.Name] = strings.Join(strings.Fields(group.Doc.Text()), " ")
		if structure, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range structure.Fields.List {
				key := reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("yaml")
				comment, _, _ := strings.Cut(field.Comment.Text(), "; see package")
				comments[spec.Name.Name+"."+key] = strings.TrimSpace(comment)
			}
		}
	}
	return comments
}

// table is the keys of a section, without those of sections in it.
func table(t *testing.T, section reflect.Value, comments map[string]string) string {
	b := "| key | default | |\n| --- | --- | --- |\n"
	for i := range section.NumField() {
		key := section.Type().Field(i).Tag.Get("yaml")
		comment := comments[section.Type().Name()+"."+key]
		if isSection(section.Field(i).Type()) {
			continue
		}
		if comment == "" {
			t.Errorf("%s.%s has no comment behind it in config.go", section.Type().Name(), key)
		}
		b += fmt.Sprintf("| `%s` | `%s` | %s |\n", key, written(t, section.Field(i)), comment)
	}
	return b
}

var idleZeros = regexp.MustCompile(`([hm])0[ms](0s)?$`)

// written is a value as it stands in a file.
func written(t *testing.T, value reflect.Value) string {
	switch {
	case value.Kind() == reflect.Slice:
		return "[]"
	case value.Kind() == reflect.String && value.Len() == 0:
		return `""`
	}
	text, err := yaml.Marshal(value.Interface())
	if err != nil {
		t.Fatal(err)
	}
	return idleZeros.ReplaceAllString(strings.TrimSpace(string(text)), "$1")
}

// TestDocsAreWhatTheStructSays: with -update they become it.
func TestDocsAreWhatTheStructSays(t *testing.T) {
	comments, all := said(t), reflect.ValueOf(Default())
	b := "# Configuration\n\n<!-- made by go test ./cmd/swivel/internal/config -run Docs -update -->\n\n" +
		"`swivel serve --config FILE` reads YAML. Every key is also a variable, such as `SWIVEL_LISTEN` or\n" +
		"`SWIVEL_BREAKER_OPEN_TIMEOUT`, with commas between the items of a list. Flags win over variables, variables over the file.\n" +
		"Durations are written `1m30s`; a plain number is seconds. `swivel config check` says all that is wrong, `swivel config print`\n" +
		"what counts and where it comes from. What the words mean is in the [README](../README.md).\n\n" + table(t, all, comments)
	for i := range all.NumField() {
		if section := all.Field(i); isSection(section.Type()) {
			key := all.Type().Field(i).Tag.Get("yaml")
			b += "\n## " + key + "\n\n" + comments[section.Type().Name()] + "\n\n" + table(t, section, comments)
		}
	}
	const file = root + "docs/configuration.md"
	if *update {
		if err := os.WriteFile(file, []byte(b), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != b {
		t.Errorf("docs/configuration.md is not what config.go says (%v): go test ./cmd/swivel/internal/config -run Docs -update", err)
	}
}

// TestOtherDocsNameKeysThatExist, where they write section and key.
func TestOtherDocsNameKeysThatExist(t *testing.T) {
	exist, sections := map[string]bool{}, map[string]bool{}
	walk(reflect.ValueOf(Default()), "", func(key string, _ reflect.Value, _ []int) {
		exist[key] = true
		if section, _, inner := strings.Cut(key, "."); inner {
			sections[section] = true
		}
	}, nil)
	name := regexp.MustCompile(`\b([a-z]+)\.[a-z_]+\b`)
	files, err := filepath.Glob(root + "docs/*.md")
	if err != nil || len(files) < 10 {
		t.Fatalf("docs has only %d pages (%v)", len(files), err)
	}
	for _, file := range append(files, root+"README.md", root+"deploy/README.md", root+"deploy/prometheus/alerts.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range name.FindAllStringSubmatch(string(text), -1) {
			if sections[found[1]] && !exist[found[0]] {
				t.Errorf("%s names %s, which is no key", file, found[0])
			}
		}
	}
}

// TestLinesOfTheMigrationGuideAreUnderstood: those that are on swivel's side of a
// table and have a scheme.
func TestLinesOfTheMigrationGuideAreUnderstood(t *testing.T) {
	text, err := os.ReadFile(root + "docs/migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for row := range strings.Lines(string(text)) {
		_, ours, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		for _, found := range regexp.MustCompile("`([a-z0-9]+://[^`]+:[^`]+)`").FindAllStringSubmatch(ours, -1) {
			lines = append(lines, strings.ReplaceAll(found[1], "HOST:PORT", "host:1"))
		}
	}
	list, err := pool.ParseList(strings.NewReader(strings.Join(lines, "\n")), nil)
	if err != nil || len(list.Skipped) > 0 || len(lines) < 5 {
		t.Errorf("%q: %v, %v", lines, err, list.Skipped)
	}
}
