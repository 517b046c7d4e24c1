package sqlite

import (
	"errors"
	"fmt"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// Why a state file cannot be opened. The errors that Open returns read as a
// sentence that begins with the path; test for the reason with [errors.Is].
var (
	// ErrInUse: another running process holds the file.
	ErrInUse = errors.New("is used by another swivel")
	// ErrNotWritable: the file or its directory does not allow writing, or
	// does not exist, or is something else than a file.
	ErrNotWritable = errors.New("cannot be written")
	// ErrNewerSchema: a newer version of the program wrote the file. It was
	// not touched.
	ErrNewerSchema = errors.New("was written by a newer swivel")
	// ErrForeign: the file is somebody else's, a text or another program's
	// database. It was not touched.
	ErrForeign = errors.New("is not a file of swivel's")
	// ErrLocked: some other program kept the database locked for longer than
	// the busy timeout.
	ErrLocked = errors.New("is locked by another program")
)

// ErrMoved is what Save returns once the file was deleted, moved or replaced
// under the running program: SQLite would go on writing into a file that
// nobody can find any more.
var ErrMoved = errors.New("was deleted, moved or replaced while in use")

// errDamaged marks what PRAGMA quick_check found.
var errDamaged = errors.New("damaged")

// isDamage says whether err proves that the file is not a sound database. A
// lock, a full disk or a failed read prove nothing, and moving a good file
// aside for one would lose its state. SQLite's texts change between versions,
// so only its codes are looked at.
func isDamage(err error) bool {
	code := codeOf(err)
	return code == sqlite3.ErrCorrupt || code == sqlite3.ErrNotADB || errors.Is(err, errDamaged)
}

// codeOf returns SQLite's primary result code in err, or 0.
func codeOf(err error) sqlite3.ErrNo {
	var e sqlite3.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// explain turns an error of SQLite's at opening into one of the reasons above.
// Others only get the path.
func explain(path string, err error) error {
	switch codeOf(err) {
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return fmt.Errorf("%s %w: end that program or its transaction, or choose another path", path, ErrLocked)
	case sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrPerm, sqlite3.ErrAuth:
		return notWritable(path, "%v; make the file and its directory writable, or choose another path", err)
	case sqlite3.ErrFull:
		return notWritable(path, "%v; make space, or choose another path", err)
	}
	return fmt.Errorf("state file %s: %w", path, err)
}

func notWritable(path, format string, args ...any) error {
	return fmt.Errorf("%s %w: %w", path, ErrNotWritable, fmt.Errorf(format, args...))
}
