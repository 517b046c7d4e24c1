package sqlite

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestATextThatWasNamedByMistakeIsLeftAlone(t *testing.T) {
	for name, text := range map[string]string{
		"list":  "http://user:s3cret@192.0.2.1:8080 weight=2\r\n# note\n",
		"utf-8": "# Straße\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "proxies.txt")
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, opened, err := Open(t.Context(), path, time.Now)
			if !errors.Is(err, ErrForeign) || opened.MovedTo != "" {
				t.Errorf("error %v, moved to %q", err, opened.MovedTo)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != text {
				t.Errorf("the file holds %q now, error %v", got, err)
			}
		})
	}
}

func TestAnotherProgramsDatabaseIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE mine(x)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(t.Context(), path, time.Now); !errors.Is(err, ErrForeign) {
		t.Errorf("error %v", err)
	}
	db, _ = sql.Open("sqlite3", path)
	defer func() { _ = db.Close() }()
	var tables int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil || tables != 1 {
		t.Errorf("%d tables, error %v", tables, err)
	}
}
