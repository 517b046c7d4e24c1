package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"swivel/storage"
	"swivel/storage/storetest"
)

func TestFileKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T, now func() time.Time) storage.Store {
		store, _, err := Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), now)
		if err != nil {
			t.Fatal(err)
		}
		return store
	})
}

func TestMemoryKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T, now func() time.Time) storage.Store {
		store, _, err := Open(t.Context(), ":memory:", now)
		if err != nil {
			t.Fatal(err)
		}
		return store
	})
}

func TestFileDoesAsMemoryDoes(t *testing.T) {
	storetest.Compare(t, func(t *testing.T, now func() time.Time) storage.Store {
		store, _, err := Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), now)
		if err != nil {
			t.Fatal(err)
		}
		return store
	})
}

// tempPath returns a path for a state file in a directory of its own, with
// characters that a careless URI would misread.
func tempPath(t testing.TB) string {
	dir := filepath.Join(t.TempDir(), "50%?a=b#c d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "state.db")
}

// mustOpen opens a store that the test closes.
func mustOpen(t testing.TB, path string) (*Store, Opened) {
	t.Helper()
	store, opened, err := Open(context.Background(), path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.db.Close(); store.lock.release() })
	return store, opened
}

func mustClose(t testing.TB, store *Store) {
	t.Helper()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

func mustSave(t testing.TB, store *Store, records ...storage.Record) {
	t.Helper()
	if err := store.Save(context.Background(), records); err != nil {
		t.Fatal(err)
	}
}

// mustLoad returns the records by id.
func mustLoad(t testing.TB, store *Store) map[string]storage.Record {
	t.Helper()
	records, skipped, err := store.Load(context.Background(), nil)
	if err != nil || len(skipped) > 0 {
		t.Fatalf("load: %v, skipped %v", err, skipped)
	}
	byID := make(map[string]storage.Record, len(records))
	for _, record := range records {
		byID[record.ProxyID] = record
	}
	return byID
}

// other opens the file as another program would: with its own connection and
// without our lock.
func other(t testing.TB, path string) *sql.DB {
	t.Helper()
	db := connect(path, forWriting(busyTimeout))
	t.Cleanup(func() { db.Close() })
	return db
}

func mustExec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// filled returns the path of a closed state file of some dozen pages.
func filled(t testing.TB) string {
	path := tempPath(t)
	store, _ := mustOpen(t, path)
	var records []storage.Record
	for i := range 300 {
		records = append(records, storetest.Record(fmt.Sprintf("proxy%03d", i)))
	}
	mustSave(t, store, records...)
	mustClose(t, store)
	return path
}
