package sqlite

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"swivel/storage/storetest"
)

func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return b
}

// A file that SQLite refuses was a crash loop: the daemon could not start until
// somebody came and deleted it.
func TestDamagedFileIsMovedAside(t *testing.T) {
	const page = 4096
	for name, spoil := range map[string]func(good []byte) []byte{
		"noise":                 func([]byte) []byte { return noise(2 * page) },
		"a few bytes":           func([]byte) []byte { return []byte{1, 2, 3, 0, 255} },
		"zeros":                 func(good []byte) []byte { return make([]byte, len(good)) },
		"page 1 overwritten":    func(good []byte) []byte { return append(noise(page), good[page:]...) },
		"truncated to half":     func(good []byte) []byte { return good[:len(good)/2] },
		"truncated to 16 bytes": func(good []byte) []byte { return good[:16] }, // was taken for a text
		"truncated to one page": func(good []byte) []byte { return good[:page] },
		"inner pages overwritten": func(good []byte) []byte {
			return slices.Concat(good[:page], noise(len(good)-page))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filled(t)
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			bad := spoil(slices.Clone(good))
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			now := func() time.Time { return time.Date(2026, 2, 3, 5, 6, 7, 0, time.FixedZone("", 3600)) }
			store, opened, err := Open(t.Context(), path, now)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			if want := path + ".corrupt-20260203T040607Z"; opened.MovedTo != want || opened.Damage == nil {
				t.Errorf("opened %+v, want moved to %s", opened, want)
			}
			if kept, err := os.ReadFile(opened.MovedTo); err != nil || !bytes.Equal(kept, bad) {
				t.Errorf("the damaged file is not kept as it was: %v", err)
			}
			mustSave(t, store, storetest.Record("fresh"))
			if got := mustLoad(t, store); len(got) != 1 {
				t.Errorf("%d records in the new file, want 1", len(got))
			}
		})
	}
}

// Left beside a new database, the old log would be replayed into it.
func TestLogGoesWithTheDamagedFile(t *testing.T) {
	path := tempPath(t)
	for suffix, size := range map[string]int{"": 8192, "-wal": 9000, "-shm": 32768} {
		if err := os.WriteFile(path+suffix, noise(size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wal, _ := os.ReadFile(path + "-wal")
	_, opened := mustOpen(t, path)
	if kept, err := os.ReadFile(opened.MovedTo + "-wal"); err != nil || !bytes.Equal(kept, wal) {
		t.Errorf("log of the damaged file: %v", err)
	}
	if _, err := os.Stat(opened.MovedTo + "-shm"); err != nil {
		t.Error(err)
	}
}

func TestSecondDamageInASecondKeepsTheFirst(t *testing.T) {
	path := tempPath(t)
	now := func() time.Time { return storetest.Epoch }
	for range 3 {
		if err := os.WriteFile(path, noise(8192), 0o600); err != nil {
			t.Fatal(err)
		}
		store, _, err := Open(t.Context(), path, now)
		if err != nil {
			t.Fatal(err)
		}
		mustClose(t, store)
	}
	names, _ := os.ReadDir(filepath.Dir(path))
	kept := 0
	for _, name := range names {
		if strings.HasPrefix(name.Name(), "state.db.corrupt-") && !strings.HasSuffix(name.Name(), "-shm") && !strings.HasSuffix(name.Name(), "-wal") {
			kept++
		}
	}
	if kept != 3 {
		t.Errorf("%d damaged files kept, want 3: %v", kept, names)
	}
}

func TestEmptyFileIsANewStore(t *testing.T) {
	path := tempPath(t)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	store, opened := mustOpen(t, path)
	if opened.MovedTo != "" || len(mustLoad(t, store)) != 0 {
		t.Errorf("opened %+v", opened)
	}
}

// A backup that runs while the daemon starts proves nothing about the file.
func TestLockedFileIsNotDamaged(t *testing.T) {
	for name, lock := range map[string]string{
		"write lock":     "BEGIN IMMEDIATE",
		"exclusive lock": "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM meta",
	} {
		t.Run(name, func(t *testing.T) {
			path := filled(t)
			db := other(t, path)
			mustExec(t, db, lock)
			store, opened, err := open(t.Context(), path, time.Now, time.Millisecond)
			if store != nil || opened.MovedTo != "" || !errors.Is(err, ErrLocked) {
				t.Errorf("opened %+v, err = %v; want ErrLocked", opened, err)
			}
			db.Close()
			again, opened := mustOpen(t, path)
			if opened.MovedTo != "" || len(mustLoad(t, again)) != 300 {
				t.Errorf("opened %+v", opened)
			}
		})
	}
}

// A process killed in its first transaction leaves a journal to roll back,
// which a read-only look at the file cannot do.
func TestHotJournalIsRolledBack(t *testing.T) {
	path := filled(t)
	db := connect(path, map[string][]string{"_journal_mode": {"DELETE"}})
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	spill(t, tx)
	crashed := tempPath(t) // what a crash would leave: copies of both files
	for _, suffix := range []string{"", "-journal"} {
		content, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(crashed+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	store, opened := mustOpen(t, crashed)
	if got := len(mustLoad(t, store)); opened.MovedTo != "" || got != 300 {
		t.Errorf("%d records, opened %+v", got, opened)
	}
}

// spill makes SQLite write pages of an unfinished transaction into the file.
func spill(t *testing.T, tx *sql.Tx) {
	t.Helper()
	for _, query := range []string{"PRAGMA cache_size = 1", "PRAGMA cache_spill = 1", "DELETE FROM circuit_breaker_states"} {
		if _, err := tx.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2000 {
		if _, err := tx.Exec("INSERT INTO meta VALUES (?, randomblob(500))", i); err != nil {
			t.Fatal(err)
		}
	}
}
