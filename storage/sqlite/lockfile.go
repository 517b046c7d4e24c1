package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockFile keeps a second instance off the database. SQLite's own locks would
// not: they let two programs take turns, each overwriting what the other
// learnt. The kernel drops the lock with the process, however it dies, so
// there is never a stale one; the file itself stays, since deleting it would
// let a third instance lock another file of the same name.
type lockFile struct {
	file *os.File
}

// acquire locks the file beside the database at path and writes our pid into
// it, for whoever is refused.
func acquire(path string) (*lockFile, error) {
	file, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, explainCreate(path, err)
	}
	switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		defer file.Close()
		return nil, inUse(path, file)
	case err != nil:
		file.Close()
		return nil, notWritable(path, "cannot lock %s: %v; choose a path on a local file system", path+".lock", err)
	}
	// The pid is a courtesy: a full disk must not keep the program from starting.
	if file.Truncate(0) == nil {
		_, _ = fmt.Fprintln(file, os.Getpid())
	}
	return &lockFile{file: file}, nil
}

func inUse(path string, file *os.File) error {
	pid, _ := io.ReadAll(io.LimitReader(file, 20))
	if holder := strings.TrimSpace(string(pid)); holder != "" {
		return fmt.Errorf("%s %w (pid %s): stop it, or choose another path", path, ErrInUse, holder)
	}
	return fmt.Errorf("%s %w: stop it, or choose another path", path, ErrInUse)
}

// release gives the database free. A nil lock, of a database in memory, has
// nothing to release.
func (l *lockFile) release() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}

// explainCreate says why a file could not be created or opened for writing, in
// words of what to do about it.
func explainCreate(path string, err error) error {
	dir := filepath.Dir(path)
	info, statErr := os.Stat(dir)
	switch {
	case errors.Is(statErr, os.ErrNotExist):
		return notWritable(path, "directory %s does not exist; create it, or choose another path", dir)
	case errors.Is(statErr, syscall.ENOTDIR), statErr == nil && !info.IsDir():
		return notWritable(path, "%s is not a directory; choose another path", dir)
	}
	var op *os.PathError
	if errors.As(err, &op) {
		err = op.Err // without the operation and the path, which is named already
	}
	return notWritable(path, "%w; make the file and its directory writable, or choose another path", err)
}
