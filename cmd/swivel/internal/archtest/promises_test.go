package archtest

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestPromisesNameTestsThatExist: a promise of SECURITY.md that nothing would
// notice the end of is none.
func TestPromisesNameTestsThatExist(t *testing.T) {
	text, err := os.ReadFile(path.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	exist := map[string]bool{}
	for _, s := range sources(t) {
		for _, f := range s.tests {
			for _, d := range f.Decls {
				if function, ok := d.(*ast.FuncDecl); ok && function.Recv == nil {
					exist[function.Name.Name] = true
				}
			}
		}
	}
	_, table, _ := strings.Cut(string(text), "\n| promise |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")[2:]
	name := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	for _, row := range rows {
		named := name.FindAllStringSubmatch(row, -1)
		if len(named) == 0 {
			t.Errorf("no test is named for: %s", row)
		}
		for _, test := range named {
			if !exist[test[1]] {
				t.Errorf("there is no %s", test[1])
			}
		}
	}
	if len(rows) < 20 {
		t.Errorf("only %d promises were found", len(rows))
	}
}
