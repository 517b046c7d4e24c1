package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"net/url"
	"strconv"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
)

const (
	// busyTimeout is how long a statement waits for another program's lock:
	// backups and a curious sqlite3 shell are done long before.
	busyTimeout = 5 * time.Second

	// walLimit is the size in bytes to which the write-ahead log is cut back
	// after somebody's long read had kept it from being reused.
	walLimit = "4194304"

	memoryPath = ":memory:"
)

// connector opens connections with every setting applied, whenever the pool
// wants one. A PRAGMA sent through the pool would reach one connection only,
// and the next would silently have the defaults.
type connector struct {
	driver *sqlite3.SQLiteDriver
	dsn    string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// connect returns a pool of one connection: one writer never meets its own
// lock, and a database in memory lives and dies with its connection.
func connect(path string, settings url.Values) *sql.DB {
	db := sql.OpenDB(connector{
		driver: &sqlite3.SQLiteDriver{ConnectHook: func(conn *sqlite3.SQLiteConn) error {
			_, err := conn.Exec("PRAGMA journal_size_limit = "+walLimit, nil)
			return err
		}},
		dsn: dsn(path, settings),
	})
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	return db
}

// forWriting are the settings of the store's connection. NORMAL is safe in WAL
// mode: power loss may cost the last moments but not the file, and a killed
// process costs nothing. Transactions take the write lock at their start, where
// waiting for it is possible, rather than at their first write, where it is not.
//
// CHECK constraints are for other programs that write to the file: records are
// validated before. For a list of words SQLite opens a temporary table with a
// page cache of its own in every statement, which was three quarters of what
// saving a record cost.
func forWriting(wait time.Duration) url.Values {
	return url.Values{
		"_busy_timeout":             {strconv.FormatInt(wait.Milliseconds(), 10)},
		"_foreign_keys":             {"on"},
		"_ignore_check_constraints": {"on"},
		"_journal_mode":             {"WAL"},
		"_synchronous":              {"NORMAL"},
		"_txlock":                   {"immediate"},
	}
}

// forInspection are the settings that leave a file as it is. CHECK constraints
// are left to the loader, which skips a row of nonsense; a sound file must not
// be called damaged for one.
func forInspection(wait time.Duration, mode string) url.Values {
	return url.Values{
		"mode":                      {mode},
		"_busy_timeout":             {strconv.FormatInt(wait.Milliseconds(), 10)},
		"_ignore_check_constraints": {"on"},
	}
}

// dsn builds SQLite's URI. The path is escaped: a directory called 50%?#1 is
// legal, and unescaped would open another file with other settings.
func dsn(path string, settings url.Values) string {
	if path == memoryPath {
		return "file::memory:?" + settings.Encode()
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + settings.Encode()
}
