package integration

import (
	"os"
	"path/filepath"
	"testing"
)

// scratch is a temporary folder that other users can enter. That of the
// testing package is for its owner alone, but squid and dante give up root's
// rights before they open their files.
func scratch(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
