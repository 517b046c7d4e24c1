package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"

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
	if isText(path) { // a list or a configuration, named by mistake
		return fmt.Errorf("%s %w but a text; choose another path", path, ErrForeign)
	}
	err := inspectAs(ctx, path, wait, "ro")
	if codeOf(err) == sqlite3.ErrReadonly {
		// A process that was killed in the middle of a transaction can leave a
		// journal that has to be rolled back first, for which SQLite must write.
		err = inspectAs(ctx, path, wait, "rw")
	}
	if err == nil || isDamage(err) || errors.Is(err, ErrNewerSchema) || errors.Is(err, ErrForeign) {
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
	if err != nil {
		return err
	}
	if tables == 0 {
		return checkEmpty(ctx, db, path)
	}
	var found int64
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+goose.DefaultTablename).Scan(&found)
	if err == nil && found > known {
		return fmt.Errorf("%s %w (schema %d, known here: %d): upgrade, or choose another path",
			path, ErrNewerSchema, found, known)
	}
	return err
}

// checkEmpty refuses a database that holds tables, but not ours.
func checkEmpty(ctx context.Context, db *sql.DB, path string) error {
	var tables int
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").Scan(&tables)
	if err == nil && tables > 0 {
		return fmt.Errorf("%s %w but another program's database; choose another path", path, ErrForeign)
	}
	return err
}

// isText says whether the file begins like a text. A damaged database does not.
func isText(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, 4<<10)
	n, _ := io.ReadFull(f, b)
	b = b[:n]
	if len(b) == cap(b) {
		b = b[:len(b)-utf8.UTFMax+1] // the last character may be cut
	}
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 && len(b) >= utf8.UTFMax || r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return false
		}
		b = b[size:]
	}
	return true
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
