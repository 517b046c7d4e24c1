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

	"golang.org/x/sys/unix"

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

// The file has a lock beside each of its names, and a log: two instances would not
// only overwrite each other's rows but destroy it.
func TestSecondInstanceByAnotherNameIsRefused(t *testing.T) {
	path := tempPath(t)
	store, _ := mustOpen(t, path)
	mustSave(t, store, storetest.Record("a"))
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, said := child(t, os.Args[0], taskOpen, link, "", nil)
		if !strings.Contains(said, ErrInUse.Error()) || !strings.Contains(said, link) {
			t.Errorf("open said %q, want %q", said, ErrInUse)
		}
	}
	mustSave(t, store, storetest.Record("b"))
	mustClose(t, store)
	if _, said := child(t, os.Args[0], taskOpen, link, "", nil); said != "<nil>\n" {
		t.Errorf("afterwards open said %q", said)
	}
}

// Until the file is there a link leads nowhere, and its lock is another one.
func TestLinkThatLedNowhereAtTheFirstStartIsTheSameFile(t *testing.T) {
	path := tempPath(t)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	_, _ = mustOpen(t, link)
	if _, said := child(t, os.Args[0], taskOpen, link, "", nil); !strings.Contains(said, ErrInUse.Error()) {
		t.Errorf("open said %q, want %q", said, ErrInUse)
	}
}

// A lock of the file that was moved aside keeps nobody off the one in its place.
func TestFileInPlaceOfADamagedOneIsLockedToo(t *testing.T) {
	path := tempPath(t)
	if err := os.WriteFile(path, []byte("\x00\x01\x02 no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, opened := mustOpen(t, path); opened.MovedTo == "" {
		t.Fatal("nothing was moved aside")
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	if _, said := child(t, os.Args[0], taskOpen, link, "", nil); !strings.Contains(said, ErrInUse.Error()) {
		t.Errorf("open said %q, want %q", said, ErrInUse)
	}
}

// SQLite's own locks on the file end when any descriptor of it is closed in this
// process. Without them another program may take the file for its own.
func TestLocksOfSQLiteSurviveOurOwn(t *testing.T) {
	path := tempPath(t)
	store, _ := mustOpen(t, path)
	mustSave(t, store, storetest.Record("a"))
	file, err := os.OpenFile(path, os.O_RDWR, 0) // closed behind the question, for that would drop them
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	whole := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &whole); err != nil || whole.Type != unix.F_RDLCK {
		t.Errorf("the lock on the file is %+v, %v, want one for reading", whole, err)
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
