package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// module is the name that go.mod gives; its root is four folders up.
const (
	module = "swivel"
	root   = "../../../.."
)

// source is the Go code of one folder.
type source struct {
	path  string // of the package, without the module: "pool/upstream", "" for the root
	code  []*ast.File
	tests []*ast.File
}

// sources parses the whole module. Build constraints do not matter: the rules
// hold on every platform.
func sources(t *testing.T) []source {
	t.Helper()
	files := token.NewFileSet()
	var all []source
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if name := entry.Name(); file != root && (name == "testdata" || name[0] == '.' || name[0] == '_') {
			return fs.SkipDir
		}
		s, err := parseFolder(files, file)
		if err == nil && len(s.code)+len(s.tests) > 0 {
			all = append(all, s)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("only %d packages found: is the root of the module still %s?", len(all), root)
	}
	return all
}

func parseFolder(files *token.FileSet, folder string) (source, error) {
	relative, err := filepath.Rel(root, folder)
	if err != nil {
		return source{}, err
	}
	s := source{path: strings.TrimPrefix(path.Clean(filepath.ToSlash(relative)), ".")}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return source{}, err
	}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			continue
		}
		f, err := parser.ParseFile(files, filepath.Join(folder, name), nil, parser.ParseComments)
		switch {
		case err != nil:
			return source{}, err
		case strings.HasSuffix(name, "_test.go"):
			s.tests = append(s.tests, f)
		default:
			s.code = append(s.code, f)
		}
	}
	return s, nil
}

// imports returns what the package's code, without its tests, imports directly.
func (s source) imports() []string {
	var all []string
	for _, f := range s.code {
		for _, spec := range f.Imports {
			all = append(all, strings.Trim(spec.Path.Value, `"`))
		}
	}
	return all
}
