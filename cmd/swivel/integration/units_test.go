package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"swivel/cmd/swivel/internal/swiveltest"
)

// deploy is where the files for operators are.
const deploy = "../../../deploy/"

// units are those of swivel.
var units = []string{"swivel.service", "swivel.socket", "swivel-admin.socket"}

// unitRoot is a file system with swivel's units, those that they build on, and
// the programs that they start.
func unitRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "usr/lib/systemd/system"), os.DirFS("/usr/lib/systemd/system")); err != nil {
		t.Fatal(err)
	}
	for _, unit := range units {
		text, err := os.ReadFile(deploy + "systemd/" + unit)
		if err != nil {
			t.Fatal(err)
		}
		place(t, filepath.Join(root, "etc/systemd/system", unit), string(text), 0o644)
	}
	for _, program := range []string{"usr/bin/swivel", "bin/kill"} {
		place(t, filepath.Join(root, program), "#!/bin/sh\n", 0o755)
	}
	return root
}

// place is writeFile with the folders on the way.
func place(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, text, mode)
}

func TestUnitsAreSoundForSystemd(t *testing.T) {
	analyze, root := installed(t, "systemd-analyze", "systemd"), unitRoot(t)
	args := append([]string{"verify", "--man=no", "--recursive-errors=one", "--root=" + root}, units...)
	if out, err := exec.Command(analyze, args...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	// From 0, nothing to lose, to 100, nothing held back.
	security := exec.Command(analyze, "security", "--no-pager", "--offline=true", "--threshold=15", "--root="+root, "swivel.service")
	if out, err := security.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestExampleConfigurationHolds(t *testing.T) {
	list := filepath.Join(t.TempDir(), "proxies.txt")
	writeFile(t, list, closedProxy+"\n", 0o600)
	cmd := swiveltest.Setup{}.Command(t, "config", "check", "--config", deploy+"swivel.yaml", "--proxies", list)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
