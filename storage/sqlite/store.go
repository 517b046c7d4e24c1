// Package sqlite keeps records in a SQLite file.
//
// SQLite, because one file that survives kill -9, that a person can open with
// the sqlite3 shell and that needs no server is all a local daemon wants. The
// package hides what it takes to make that true: settings on every connection,
// one writer, a lock against second instances, and the refusal at start of
// everything that would fail later.
//
// A Store is safe for concurrent use; its calls queue for the one connection.
// A call waits up to five seconds for another program's lock. That is why
// requests talk to [storage.Journal] and not to a Store.
//
//	store, opened, err := sqlite.Open(ctx, "state.db", time.Now)
//	if err != nil { ... }
//	if opened.MovedTo != "" { ... } // say it loudly
//	defer store.Close()
package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"swivel/storage"
)

// Store is a storage.Store in a SQLite database. Create it with [Open].
type Store struct {
	db     *sql.DB
	insert *sql.Stmt // upsertRow, prepared
	path   string
	file   os.FileInfo // of the file that was opened; nil in memory
	lock   *lockFile   // nil in memory
	now    func() time.Time
}

var _ storage.Store = (*Store)(nil)

// Close writes the log back into the file, so that the file alone is complete,
// and lets another instance have it.
func (s *Store) Close() error {
	return errors.Join(s.insert.Close(), s.db.Close(), s.lock.release())
}

// Save stores the records in one transaction.
func (s *Store) Save(ctx context.Context, records []storage.Record) error {
	for i := range records {
		if err := records[i].Validate(); err != nil {
			return err
		}
	}
	if len(records) == 0 {
		return ctx.Err()
	}
	err := s.write(ctx, func(tx *sql.Tx) error { return upsert(tx.Stmt(s.insert), records, s.now()) })
	if err != nil {
		return fmt.Errorf("save %d records to %s: %w", len(records), s.path, err)
	}
	return nil
}

// Load reads the records of these proxies, or with nil of all; rows of nonsense
// are described in skipped.
func (s *Store) Load(ctx context.Context, ids []string) (records []storage.Record, skipped []error, err error) {
	if ids == nil {
		records, skipped, err = scan(ctx, s.db, decodeRecord, selectRows)
	} else {
		records, skipped, err = scan(ctx, s.db, decodeRecord, selectRows+" AND proxy_id IN "+listed, toList(ids))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("load from %s: %w", s.path, err)
	}
	return records, skipped, nil
}

// Salt returns the random bytes kept in the table meta. What is there but has
// another length was not made here, and is replaced.
func (s *Store) Salt(ctx context.Context) ([]byte, error) {
	fresh := make([]byte, storage.SaltSize)
	_, _ = rand.Read(fresh) // never fails, it says
	var salt []byte
	err := s.transact(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO meta (key, value) VALUES ('salt', ?1)
			ON CONFLICT (key) DO UPDATE SET value = ?1
			WHERE typeof(value) <> 'blob' OR length(value) <> length(?1)`, fresh)
		if err != nil {
			return err
		}
		return tx.QueryRow("SELECT value FROM meta WHERE key = 'salt'").Scan(&salt)
	})
	if err != nil {
		return nil, fmt.Errorf("salt of %s: %w", s.path, err)
	}
	return salt, nil
}

// write is transact for what somebody relies on to be found again.
func (s *Store) write(ctx context.Context, work func(*sql.Tx) error) error {
	if err := s.stillThere(); err != nil {
		return err
	}
	return s.transact(ctx, work)
}

// transact runs work in a transaction that holds the write lock from its start,
// and rolls back if work fails. Once begun it is not cancelled: database/sql
// would drop the connection, and with it a database in memory.
func (s *Store) transact(ctx context.Context, work func(*sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, err := s.db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	if err := work(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// stillThere compares the file at the path with the one that was opened.
func (s *Store) stillThere() error {
	if s.file == nil {
		return nil
	}
	found, err := os.Stat(s.path)
	if err != nil || !os.SameFile(s.file, found) {
		return fmt.Errorf("%s %w: put it back, or restart", s.path, ErrMoved)
	}
	s.renewLog()
	return nil
}

// renewLog begins a new write-ahead log when somebody has deleted the old one,
// as a leftover: SQLite would go on writing into a file without a name, which
// ends with the process. Closing the connection brings into the database what the
// nameless one holds.
func (s *Store) renewLog() {
	if _, err := os.Stat(s.path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		s.db.SetMaxIdleConns(0)
		s.db.SetMaxIdleConns(1)
	}
}
