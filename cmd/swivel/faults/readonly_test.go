package faults

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// nobodysFolder is a folder in which a process without root's rights may be.
func nobodysFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestReadOnly: what the database needs to be written is taken away, while the
// daemon runs and before it starts; as a user who is not root, to whom such
// things matter.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	lines, turns := twoUpstreams(t)
	s := swiveltest.Setup{Dir: nobodysFolder(t), Lines: lines, Env: quickBreakers, Attr: asNobody()}
	d := startDaemon(t, s)
	changes(t, d, turns, 4)
	chmod := func(folder, files os.FileMode) {
		t.Helper()
		names, err := filepath.Glob(d.DB + "*")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if err := os.Chmod(name, files); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(s.Dir, folder); err != nil {
			t.Fatal(err)
		}
	}
	chmod(0o555, 0o444)
	changes(t, d, turns, 6)
	d.nothingIsLost(t)
	told := len(d.Lines(t, incident))
	if code := d.Stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	note(t, "while it runs", "lines about it: %d; what was open stays writable, nothing lost", told)
	chmod(0o755, 0o644)                                                    // the folder first
	startDaemon(t, swiveltest.Setup{Dir: s.Dir, Attr: asNobody()}).Stop(t) // which leaves the file alone, without a log
	for _, c := range []struct {
		what          string
		folder, files os.FileMode
	}{{"file", 0o755, 0o444}, {"folder", 0o555, 0o644}, {"both", 0o555, 0o444}} {
		chmod(0o755, 0o644)
		chmod(c.folder, c.files)
		refused := launch(t, swiveltest.Setup{Dir: s.Dir, Attr: asNobody()})
		if !refused.EndsWithin(20 * time.Second) {
			t.Fatalf("%s: it runs", c.what)
		}
		text := refused.Output(t)
		if code := refused.Stop(t); code != 1 || !strings.Contains(text, "cannot be written") || !strings.Contains(text, d.DB) {
			t.Errorf("%s: exit code %d, and it says %s", c.what, code, text)
		}
	}
	chmod(0o755, 0o644)
	again := startDaemon(t, swiveltest.Setup{Dir: s.Dir, Env: quickBreakers, Attr: asNobody()})
	changes(t, again, turns, 2)
	note(t, "at the start", "file, folder or both: refused with 1, the path and what to do; starts when mended")
}
