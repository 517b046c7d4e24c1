package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestRefusedFileWasLeftWithALockBesideIt(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.db")
	if err := os.WriteFile(path, []byte("192.0.2.1:8080\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, _, err := Open(t.Context(), path, time.Now); !errors.Is(err, ErrForeign) {
			t.Errorf("error %v", err)
		}
		if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
			t.Errorf("%v, error %v", names, err)
		}
	}
	held, err := acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(t.Context(), path, time.Now); !errors.Is(err, ErrInUse) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(path + ".lock"); err != nil {
		t.Errorf("somebody else's lock was removed: %v", err)
	}
	if err := held.release(); err != nil {
		t.Error(err)
	}
	if _, _, err := Open(t.Context(), path, time.Now); !errors.Is(err, ErrForeign) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(path + ".lock"); err != nil {
		t.Errorf("a lock that was there before was removed: %v", err)
	}
}

// A lock on a file whose name is gone keeps nobody off.
func TestAbandonedLockLetsNoTwoIn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	var inside, entered atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 300 {
				l, err := acquire(path)
				if errors.Is(err, ErrInUse) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				entered.Add(1)
				if inside.Add(1) > 1 {
					t.Error("two hold the lock")
				}
				runtime.Gosched()
				inside.Add(-1)
				l.created = true // so that it is gone each time
				if err := l.abandon(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if entered.Load() == 0 {
		t.Error("nobody ever got the lock")
	}
}
