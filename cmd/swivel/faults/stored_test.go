package faults

import (
	"database/sql"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // the database is read as anyone may read it
)

// stored is what a database holds.
type stored struct {
	integrity string
	breakers  map[string]row    // by id of the proxy
	pins      map[string]string // proxies by session
	bans      map[[2]string]bool
	paused    map[string]bool
}

type row struct {
	state                 string
	next, changed, update time.Time // zero: none
}

// copyOf copies a database as it lies there: looking at the file itself would
// tidy up what a killed daemon has left.
func copyOf(t *testing.T, db string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		from, err := os.Open(db + suffix)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		to, err := os.Create(file + suffix)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(to, from)
		_, _ = from.Close(), to.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// readStored reads everything in a copy of the database.
func readStored(t *testing.T, db string) stored {
	t.Helper()
	file := copyOf(t, db)
	defer func() {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(file + suffix)
		}
	}()
	c := openDB(t, file)
	defer c.Close()
	s := stored{breakers: map[string]row{}, pins: map[string]string{}, bans: map[[2]string]bool{}, paused: map[string]bool{}}
	if err := c.QueryRow("PRAGMA integrity_check").Scan(&s.integrity); err != nil {
		s.integrity = err.Error()
		return s
	}
	each(t, c, "SELECT proxy_id, state, next_test_time, last_state_change, updated_at FROM circuit_breaker_states", func(scan func(...any)) {
		var id, state string
		var next, changed, update sql.NullFloat64
		scan(&id, &state, &next, &changed, &update)
		s.breakers[id] = row{state, stamp(next), stamp(changed), stamp(update)}
	})
	each(t, c, "SELECT session_id, proxy_id FROM session_pins", func(scan func(...any)) {
		var session, proxy string
		scan(&session, &proxy)
		s.pins[session] = proxy
	})
	each(t, c, "SELECT proxy_id, target FROM bans", func(scan func(...any)) {
		var proxy, target string
		scan(&proxy, &target)
		s.bans[[2]string{proxy, target}] = true
	})
	each(t, c, "SELECT proxy_id FROM pauses", func(scan func(...any)) {
		var proxy string
		scan(&proxy)
		s.paused[proxy] = true
	})
	return s
}

func openDB(t *testing.T, file string) *sql.DB {
	t.Helper()
	c, err := sql.Open("sqlite3", (&url.URL{Scheme: "file", Opaque: file, RawQuery: "_busy_timeout=5000"}).String())
	if err != nil {
		t.Fatal(err)
	}
	c.SetMaxOpenConns(1)
	return c
}

// each calls f for each row.
func each(t *testing.T, c *sql.DB, query string, f func(scan func(...any))) {
	t.Helper()
	rows, err := c.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		f(func(into ...any) {
			if err := rows.Scan(into...); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		})
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// stamp is a time from seconds, to the millisecond, as the admin API tells it.
func stamp(seconds sql.NullFloat64) time.Time {
	if !seconds.Valid {
		return time.Time{}
	}
	return time.UnixMilli(int64(math.Floor(seconds.Float64 * 1000)))
}

// same says whether two times are the same but for what rounding does.
func same(a, b time.Time) bool { return a.Sub(b).Abs() <= 2*time.Millisecond }
