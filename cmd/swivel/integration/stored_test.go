package integration

import (
	"database/sql"
	"errors"
	"net/url"
	"testing"

	_ "github.com/mattn/go-sqlite3" // the database is read as anyone may read it
)

// stored is a row of the database.
type stored struct {
	state    string
	failures int
	nextTest sql.NullFloat64 // unix seconds
}

// openDB opens a database that a daemon may be using, to read it.
func openDB(t testing.TB, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", (&url.URL{Scheme: "file", Opaque: file, RawQuery: "mode=ro&_busy_timeout=5000"}).String())
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// query reads one row.
func query(t testing.TB, file, statement string, into ...any) {
	t.Helper()
	db := openDB(t, file)
	defer db.Close()
	if err := db.QueryRow(statement).Scan(into...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func count(t testing.TB, file, from string) (n int) {
	t.Helper()
	query(t, file, "SELECT count(*) FROM "+from, &n)
	return n
}

// storedState reads the row of a proxy; false when there is none.
func storedState(t testing.TB, file, id string) (stored, bool) {
	t.Helper()
	db := openDB(t, file)
	defer db.Close()
	var row stored
	err := db.QueryRow("SELECT state, failure_count, next_test_time FROM circuit_breaker_states WHERE proxy_id = ?", id).
		Scan(&row.state, &row.failures, &row.nextTest)
	if errors.Is(err, sql.ErrNoRows) {
		return stored{}, false
	}
	if err != nil {
		t.Fatal(err)
	}
	return row, true
}
