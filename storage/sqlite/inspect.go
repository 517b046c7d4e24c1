package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
	"github.com/pressly/goose/v3"

	"swivel/migrations"
)

// inspect looks at a file before anything is written to it. It returns nil if
// the file can be used, an error for which isDamage is true if it is no sound
// database, or the reason why it must be left alone.
func inspect(ctx context.Context, path string, wait time.Duration) error {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return err // an empty file is a new database
	}
	err := inspectAs(ctx, path, wait, "ro")
	if codeOf(err) == sqlite3.ErrReadonly {
		// A process that was killed in the middle of a transaction can leave a
		// journal that has to be rolled back first, for which SQLite must write.
		err = inspectAs(ctx, path, wait, "rw")
	}
	if err == nil || isDamage(err) || errors.Is(err, ErrNewerSchema) {
		return err
	}
	return explain(path, err)
}

func inspectAs(ctx context.Context, path string, wait time.Duration, mode string) (err error) {
	db := connect(path, forInspection(wait, mode))
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := quickCheck(ctx, db); err != nil {
		return err
	}
	return checkVersion(ctx, db, path)
}

// quickCheck reads the whole file and compares the structure of its trees.
func quickCheck(ctx context.Context, db *sql.DB) error {
	var finding string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&finding); err != nil {
		return err
	}
	if finding != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, finding)
	}
	return nil
}

// checkVersion refuses a schema from the future. goose would create its table
// when asked for the version, so the question is put to the file directly.
func checkVersion(ctx context.Context, db *sql.DB, path string) error {
	provider, err := newProvider(db)
	if err != nil {
		return err
	}
	sources := provider.ListSources()
	known := sources[len(sources)-1].Version

	var tables int
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?",
		goose.DefaultTablename).Scan(&tables)
	if err != nil || tables == 0 {
		return err
	}
	var found int64
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+goose.DefaultTablename).Scan(&found)
	if err == nil && found > known {
		return fmt.Errorf("%s %w (schema %d, known here: %d): upgrade, or choose another path",
			path, ErrNewerSchema, found, known)
	}
	return err
}

// migrate brings the schema up to date.
func migrate(ctx context.Context, db *sql.DB) error {
	provider, err := newProvider(db)
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

func newProvider(db *sql.DB) (*goose.Provider, error) {
	return goose.NewProvider(goose.DialectSQLite3, db, migrations.FS, goose.WithDisableGlobalRegistry(true))
}
