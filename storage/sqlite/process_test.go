package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"swivel/storage"
	"swivel/storage/storetest"
)

func TestSecondInstanceIsRefused(t *testing.T) {
	path := tempPath(t)
	first, _ := mustOpen(t, path)
	second, _, err := Open(t.Context(), path, time.Now)
	if second != nil || !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), fmt.Sprintf("(pid %d)", os.Getpid())) {
		t.Errorf("err = %v, want ErrInUse with our pid", err)
	}
	mustSave(t, first, storetest.Record("a")) // the first is not disturbed
	mustClose(t, first)
	third, _ := mustOpen(t, path)
	if len(mustLoad(t, third)) != 1 {
		t.Error("the record of the first is missing")
	}
}

// A lock that outlives its process needs a person to remove it.
func TestKilledInstanceLeavesNoLock(t *testing.T) {
	path := tempPath(t)
	cmd, said := child(t, os.Args[0], taskHold, path, "", nil)
	if said != "ready\n" {
		t.Fatal(said)
	}
	if _, _, err := Open(t.Context(), path, time.Now); !errors.Is(err, ErrInUse) ||
		!strings.Contains(err.Error(), fmt.Sprintf("(pid %d)", cmd.Process.Pid)) {
		t.Errorf("err = %v, want ErrInUse with the child's pid", err)
	}
	kill(t, cmd)
	_, _ = mustOpen(t, path)
}

func TestKillLosesNoStoredTransition(t *testing.T) {
	path := tempPath(t)
	var ids []string
	for round := range 10 {
		ids = append(ids, fmt.Sprintf("proxy%d", round))
		cmd, said := child(t, os.Args[0], taskTransition, path, ids[round], nil)
		if said != "ready\n" {
			t.Fatal(said)
		}
		kill(t, cmd)

		store, opened := mustOpen(t, path)
		var verdict string
		if err := store.db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" || opened.MovedTo != "" {
			t.Fatalf("round %d: integrity %q, %v, opened %+v", round, verdict, err, opened)
		}
		stored := mustLoad(t, store)
		for _, id := range ids {
			if got := stored[id]; got.State != storage.StateOpen || got.NextTest.Sub(got.LastChange) != 30*time.Second {
				t.Errorf("round %d: %s is %+v", round, id, got)
			}
		}
		mustClose(t, store)
	}
}

// Root may write everything, so this needs a process that is not root.
func TestReadOnlyFileIsRefusedAtStart(t *testing.T) {
	binary, root := publicBinary(t)
	for name, modes := range map[string]struct{ dir, file os.FileMode }{
		"file":               {0o777, 0o444},
		"directory":          {0o555, 0o666},
		"directory and file": {0o555, 0o444},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			if err := os.Mkdir(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "state.db")
			store, _ := mustOpen(t, path)
			mustSave(t, store, storetest.Record("a"))
			mustClose(t, store)
			for target, mode := range map[string]os.FileMode{path: modes.file, path + ".lock": 0o666, dir: modes.dir} {
				if err := os.Chmod(target, mode); err != nil {
					t.Fatal(err)
				}
			}
			t.Cleanup(func() { _ = os.Chmod(dir, 0o777) })
			cmd, said := child(t, binary, taskOpen, path, "", asNobody)
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(said, ErrNotWritable.Error()) || !strings.Contains(said, path) {
				t.Errorf("open said %q, want %q with the path", said, ErrNotWritable)
			}
		})
	}
}

// asNobody drops root's rights, where we have them.
func asNobody(cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}

// publicBinary copies the test binary to where every user may run it, since go
// test builds it in a directory of its own user, and returns the directory that
// it is in.
func publicBinary(t *testing.T) (binary, root string) {
	t.Helper()
	root = t.TempDir()
	for _, parent := range []string{filepath.Dir(root), root} {
		if err := os.Chmod(parent, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	binary = filepath.Join(root, "test")
	from, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(binary, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		t.Fatal(err)
	}
	return binary, root
}
