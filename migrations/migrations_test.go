package migrations_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"swivel/migrations"
)

// Two files of one number, or a gap, would be applied in an order that depends
// on who merged first.
func TestNumbersAreConsecutive(t *testing.T) {
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatal("no migration is embedded")
	}
	for i, name := range names {
		if want := fmt.Sprintf("%05d_", i+1); !strings.HasPrefix(name, want) {
			t.Errorf("%s: want a name that begins with %s", name, want)
		}
	}
}

// A file without a way back would make a roll-back of the program a loss of
// the state.
func TestEveryMigrationHasBothDirections(t *testing.T) {
	names, _ := fs.Glob(migrations.FS, "*.sql")
	for _, name := range names {
		text, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"-- +goose Up\n", "-- +goose Down\n"} {
			if strings.Count(string(text), want) != 1 {
				t.Errorf("%s: want %q exactly once", name, strings.TrimSpace(want))
			}
		}
	}
}
