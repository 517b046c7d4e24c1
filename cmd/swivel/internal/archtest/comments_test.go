package archtest

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// TestEveryPackageSaysWhatItIsFor in a package comment, in one file.
func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, s := range sources(t) {
		if len(s.code) == 0 {
			continue
		}
		var comments []string
		for _, f := range s.code {
			if f.Doc != nil {
				comments = append(comments, f.Doc.Text())
			}
		}
		if len(comments) != 1 {
			t.Errorf("%s has %d package comments, want one", s.path, len(comments))
			continue
		}
		if want := opening(s); !strings.HasPrefix(comments[0], want) {
			t.Errorf("the package comment of %s begins %.30q, want %q", s.path, comments[0], want)
		}
	}
}

// opening is how a package comment begins: a command is known by its folder.
func opening(s source) string {
	if name := s.code[0].Name.Name; name != "main" {
		return "Package " + name + " "
	}
	return "Command " + s.path[strings.LastIndexByte(s.path, '/')+1:] + " "
}

// TestEveryExportedNameIsExplained: a package's top-level names are what others
// meet first. In a group one comment is enough for all.
func TestEveryExportedNameIsExplained(t *testing.T) {
	for _, s := range sources(t) {
		for _, f := range s.code {
			for _, d := range f.Decls {
				for _, name := range unexplained(d) {
					t.Errorf("%s.%s has no comment", s.path, name)
				}
			}
		}
	}
}

// unexplained returns the exported names of a declaration without a comment.
// Methods are left out: those of an interface are explained there.
func unexplained(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() && d.Doc == nil {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		if d.Tok == token.IMPORT || d.Doc != nil {
			return nil
		}
		for _, spec := range d.Specs {
			names = append(names, unexplainedSpec(spec)...)
		}
	}
	return names
}

func unexplainedSpec(spec ast.Spec) (names []string) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() && spec.Doc == nil {
			return []string{spec.Name.Name}
		}
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			if name.IsExported() && spec.Doc == nil && spec.Comment == nil {
				names = append(names, name.Name)
			}
		}
	}
	return names
}
