package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Opened says what Open found.
type Opened struct {
	Path    string // of the database file, absolute and without links; ":memory:" for one in memory
	MovedTo string // where a damaged file was moved, which then was replaced by an empty one; else empty
	Damage  error  // what was wrong with that file; else nil
}

// Open opens the state file at path, or with ":memory:" a store that ends with
// the process, and brings its schema up to date. A file that does not exist, or
// is empty, starts a new store. Time stamps are taken from now.
//
// Whatever would keep the store from writing is found here and not with the
// first transition hours later: the error then is one of ErrInUse,
// ErrNotWritable, ErrNewerSchema and ErrLocked, in a line that names the path
// and what to do. A file that is proven damaged is moved aside, never deleted,
// and replaced by an empty one: starting without history is better than not
// starting.
func Open(ctx context.Context, path string, now func() time.Time) (*Store, Opened, error) {
	return open(ctx, path, now, busyTimeout)
}

func open(ctx context.Context, path string, now func() time.Time, wait time.Duration) (_ *Store, opened Opened, err error) {
	if path == memoryPath {
		store, err := openStore(ctx, memoryPath, nil, now, wait)
		return store, Opened{Path: memoryPath}, err
	}
	if path, err = locate(path); err != nil {
		return nil, Opened{}, err
	}
	lock, err := acquire(path)
	if err != nil {
		return nil, Opened{}, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.abandon())
		}
	}()
	opened.Path = path
	if err := lock.hold(path); err != nil {
		return nil, opened, err
	}
	switch damage := inspect(ctx, path, wait); {
	case isDamage(damage):
		opened.Damage = damage
		if opened.MovedTo, err = moveAside(path, now()); err == nil {
			err = lock.hold(path)
		}
		if err != nil {
			return nil, opened, err
		}
	case damage != nil:
		return nil, opened, damage
	}
	store, err := openStore(ctx, path, lock, now, wait)
	return store, opened, err
}

// locate returns the absolute path of the file behind links, so that the lock
// and files moved aside are beside it whatever name it was opened by, and
// refuses what cannot become a database.
func locate(path string) (string, error) {
	if path == "" {
		return "", notWritable("state file", "its path is empty; name a file, or %s", memoryPath)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("state file %s: %w", path, err)
	}
	target, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return absolute, nil // it does not exist yet, or the lock will say what is wrong
	}
	switch info, err := os.Stat(target); {
	case err != nil:
		return "", explainCreate(target, err)
	case info.IsDir():
		return "", notWritable(target, "it is a directory; name a file in it")
	case !info.Mode().IsRegular():
		return "", notWritable(target, "it is not a regular file; choose another path")
	}
	return target, nil
}

// openStore connects, migrates and proves that writing works.
func openStore(ctx context.Context, path string, lock *lockFile, now func() time.Time, wait time.Duration) (_ *Store, err error) {
	db := connect(path, forWriting(wait))
	defer func() {
		if err != nil {
			err = errors.Join(explain(path, err), db.Close())
		}
	}()
	if err := migrate(ctx, db); err != nil {
		return nil, err
	}
	insert, err := db.PrepareContext(ctx, upsertRow)
	if err != nil {
		return nil, err
	}
	store := &Store{db: db, insert: insert, path: path, lock: lock, now: now}
	if path != memoryPath {
		if store.file, err = os.Stat(path); err != nil {
			return nil, err
		}
	}
	if err := store.rehearse(ctx); err != nil {
		return nil, err
	}
	return store, nil
}

// rehearse saves a record and takes it back. Reading the file's mode would not
// tell: file systems mounted read-only, quotas and containers have their own say.
func (s *Store) rehearse(ctx context.Context) error {
	err := s.transact(ctx, func(tx *sql.Tx) error {
		if err := upsert(tx.Stmt(s.insert), rehearsal, s.now()); err != nil {
			return err
		}
		return errRehearsal // so that it is rolled back
	})
	if errors.Is(err, errRehearsal) {
		return nil
	}
	return err
}
