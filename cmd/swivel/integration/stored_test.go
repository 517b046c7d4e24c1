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

// storedState reads the row of a proxy; false when there is none.
func storedState(t testing.TB, file, id string) (stored, bool) {
	t.Helper()
	db, err := sql.Open("sqlite3", (&url.URL{Scheme: "file", Opaque: file, RawQuery: "mode=ro&_busy_timeout=5000"}).String())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var row stored
	err = db.QueryRow("SELECT state, failure_count, next_test_time FROM circuit_breaker_states WHERE proxy_id = ?", id).
		Scan(&row.state, &row.failures, &row.nextTest)
	if errors.Is(err, sql.ErrNoRows) {
		return stored{}, false
	}
	if err != nil {
		t.Fatal(err)
	}
	return row, true
}
