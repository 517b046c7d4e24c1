package sqlite

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"

	"swivel/storage"
	"swivel/storage/storetest"
)

// journalOn returns a journal whose incidents fail the test.
func journalOn(t *testing.T, store *Store) *storage.Journal {
	journal := storage.NewJournal(store, storage.Options{
		OnIncident: func(err error) { t.Errorf("incident: %v", err) },
	})
	t.Cleanup(func() { _ = journal.Close(t.Context()) })
	return journal
}

func mustFlush(t *testing.T, journal *storage.Journal) {
	t.Helper()
	if err := journal.Flush(t.Context()); err != nil {
		t.Fatalf("flush: %v", err)
	}
}

// Many writers and a curious reader used to end in "database is locked".
func TestNothingIsLostUnderConcurrentWrites(t *testing.T) {
	const writers, keys, rounds = 64, 200, 5
	path := tempPath(t)
	store, _ := mustOpen(t, path)
	journal := journalOn(t, store)
	stopReading := readAllTheTime(t, path)

	var cells [keys]struct {
		sync.Mutex
		generation uint32
	}
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for i := range rounds * keys {
				cell := &cells[i%keys]
				cell.Lock() // orders the puts of one key, as a breaker's lock does
				cell.generation++
				record := storetest.Record(fmt.Sprintf("proxy%d", i%keys))
				record.Generation = cell.generation
				journal.Put(record, i%3 == 0)
				cell.Unlock()
			}
		})
	}
	group.Wait()
	mustFlush(t, journal)
	stopReading()

	stored := mustLoad(t, store)
	for i := range cells {
		if got := stored[fmt.Sprintf("proxy%d", i)].Generation; got != writers*rounds {
			t.Errorf("proxy%d: generation %d, want %d", i, got, writers*rounds)
		}
	}
}

// readAllTheTime counts rows over a connection of its own until stopped.
func readAllTheTime(t *testing.T, path string) (stop func()) {
	db := other(t, path)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			default:
			}
			var n int
			if err := db.QueryRow("SELECT count(*) FROM circuit_breaker_states").Scan(&n); err != nil {
				t.Errorf("reader: %v", err)
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

// Every save waits for a lock that somebody else holds for a moment, because
// the busy timeout is set on whatever connection it gets.
func TestWritesOutwaitAForeignLock(t *testing.T) {
	path := tempPath(t)
	store, _ := mustOpen(t, path)
	tx, err := other(t, path).Begin()
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			if err := store.Save(t.Context(), []storage.Record{storetest.Record(fmt.Sprintf("proxy%d", i))}); err != nil {
				t.Error(err)
			}
		})
	}
	time.AfterFunc(300*time.Millisecond, func() { _ = tx.Rollback() })
	group.Wait()
	if got := len(mustLoad(t, store)); got != 8 {
		t.Errorf("%d records, want 8", got)
	}
}

// A backup takes a lock for ten seconds: no request may notice.
func TestPutDoesNotWaitForALockedDatabase(t *testing.T) {
	const keys, rounds = 100, 200
	path := tempPath(t)
	store, _ := mustOpen(t, path)
	journal := journalOn(t, store)
	tx, err := other(t, path).Begin()
	if err != nil {
		t.Fatal(err)
	}
	for i := range keys * rounds {
		record := storetest.Record(fmt.Sprintf("proxy%d", i%keys))
		record.Generation = uint32(i)
		journal.Put(record, true)
	}
	// Had a Put waited for the database we would not be here: the lock is held.
	if stats := journal.Stats(); stats.Written != 0 || stats.Pending > 2*keys {
		t.Errorf("while locked: %+v; want nothing written and the queue bounded by the keys", stats)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	mustFlush(t, journal)
	for id, record := range mustLoad(t, store) {
		if record.Generation < keys*(rounds-1) {
			t.Errorf("%s: generation %d is not the last", id, record.Generation)
		}
	}
}

// A full disk is an incident with one beginning and one end, and costs nothing.
func TestFullDiskLosesNothing(t *testing.T) {
	store, _ := mustOpen(t, tempPath(t))
	incidents, recoveries := make(chan error, 100), make(chan int, 100)
	journal := storage.NewJournal(store, storage.Options{
		OnIncident:  func(err error) { incidents <- err },
		OnRecovered: func(n int) { recoveries <- n },
	})
	mustExec(t, store.db, "PRAGMA max_page_count = 1") // means: no page more than there are
	for i := range 2000 {
		journal.Put(storetest.Record(fmt.Sprintf("proxy%d", i)), true)
	}
	for range 3 {
		if err := journal.Flush(t.Context()); codeOf(err) != sqlite3.ErrFull {
			t.Fatalf("err = %v, want a full disk", err)
		}
	}
	if stats := journal.Stats(); stats.Pending != 2000 || stats.Incident == nil {
		t.Errorf("while full: %+v", stats)
	}
	mustExec(t, store.db, "PRAGMA max_page_count = 1000000")
	if err := journal.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(incidents) != 1 || len(recoveries) != 1 || <-recoveries < 3 {
		t.Errorf("%d incidents, %d recoveries; want one of each", len(incidents), len(recoveries))
	}
	if got := len(mustLoad(t, store)); got != 2000 {
		t.Errorf("%d records, want 2000", got)
	}
}

// A long read keeps the log from being folded back; after it the log must not
// keep the size for ever.
func TestLogIsCutBackAfterALongRead(t *testing.T) {
	const limit = 4 << 20
	path := tempPath(t)
	store, _ := mustOpen(t, path)
	batch := manyRecords(10_000)
	mustSave(t, store, batch...)
	reader := connect(path, nil) // its transactions only read
	defer reader.Close()
	tx, err := reader.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM circuit_breaker_states").Scan(&n); err != nil {
		t.Fatal(err)
	}
	for logSize(t, path) < 2*limit {
		mustSave(t, store, batch...)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	mustSave(t, store, batch...) // folds the log back at its end
	mustSave(t, store, batch[0]) // starts it anew
	if size := logSize(t, path); size > limit {
		t.Errorf("log of %d bytes after the reader left, want at most %d", size, limit)
	}
}

func logSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// SQLite would write on into a file without a name.
func TestFileReplacedWhileRunningIsReported(t *testing.T) {
	path := tempPath(t)
	store, _ := mustOpen(t, path)
	away := path + ".away"
	if err := os.Rename(path, away); err != nil {
		t.Fatal(err)
	}
	for name, replace := range map[string]func() error{
		"nothing":      func() error { return nil },
		"another file": func() error { return os.WriteFile(path, nil, 0o600) },
		"a directory":  func() error { return os.Mkdir(path, 0o700) },
	} {
		if err := replace(); err != nil {
			t.Fatal(err)
		}
		err := store.Save(t.Context(), []storage.Record{storetest.Record("a")})
		if !errors.Is(err, ErrMoved) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s in its place: err = %v, want ErrMoved", name, err)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(away, path); err != nil {
		t.Fatal(err)
	}
	mustSave(t, store, storetest.Record("a"))
}

// A deleted log would take along what is written behind it, if the process is
// killed.
func TestLogDeletedWhileRunningIsReplaced(t *testing.T) {
	path := tempPath(t)
	store, _ := mustOpen(t, path)
	mustSave(t, store, storetest.Record("before"))
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	mustSave(t, store, storetest.Record("after"))
	killed := tempPath(t) // what a kill would leave now
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(killed+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, opened := mustOpen(t, killed)
	if got := mustLoad(t, found); len(got) != 2 || opened.MovedTo != "" {
		t.Errorf("%d records, want 2; opened %+v", len(got), opened)
	}
}
