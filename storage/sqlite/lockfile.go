package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockFile keeps a second instance off the database. SQLite's own locks would
// not: they let two programs take turns, each overwriting what the other
// learnt. The kernel drops the lock with the process, however it dies, so
// there is never a stale one; the file itself stays. Only who made it, and then
// does not start, takes it away again: see abandon.
//
// A file has other names as well, hard links and mounts, under which the lock
// beside it is another one and so is SQLite's log. So the database itself is locked
// too, with flock, which SQLite's own locks (fcntl) know nothing of.
type lockFile struct {
	file     *os.File
	created  bool     // by us
	database *os.File // nil until hold
}

// acquire locks the file beside the database at path and writes our pid into
// it, for whoever is refused.
func acquire(path string) (*lockFile, error) {
	for tries := 1; ; tries++ {
		l, err := lock(path)
		if err != nil || !isGone(l.file) || tries == 100 { // some file systems count no links
			return l, err
		}
		_ = l.file.Close() // whoever abandoned it did so before we had the lock
	}
}

// lock opens and locks the file.
func lock(path string) (*lockFile, error) {
	file, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	created := err == nil
	if errors.Is(err, os.ErrExist) {
		file, err = os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	}
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
	return &lockFile{file: file, created: created}, nil
}

// isGone says that the open file has no name any more.
func isGone(file *os.File) bool {
	var info unix.Stat_t
	return unix.Fstat(int(file.Fd()), &info) == nil && info.Nlink == 0
}

// hold creates the database if there is none, for the owner only: a list of which
// proxies one uses is nobody else's business. And it keeps it, open, until release:
// to close any descriptor of a file drops all fcntl locks that the process has on
// it, so this one must neither be opened while SQLite has the file nor closed before
// SQLite has. When the file was moved away, hold is for the next one.
func (l *lockFile) hold(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return explainCreate(path, err)
	}
	if l.database != nil {
		l.database.Close()
	}
	l.database = file
	if !isLocal(file) {
		return nil
	}
	if errors.Is(syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
		return fmt.Errorf("%s %w, by another name of the same file: stop it, or choose another path", path, ErrInUse)
	}
	return nil
}

// isLocal says whether the file is on one of the file systems on which flock is
// known to be apart from fcntl. Over NFS, SMB and 9p both become the same lock of
// the server's, and SQLite would wait for ours.
func isLocal(file *os.File) bool {
	var fs unix.Statfs_t
	if unix.Fstatfs(int(file.Fd()), &fs) != nil {
		return false
	}
	switch uint32(fs.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
		return true
	}
	return false
}

func inUse(path string, file *os.File) error {
	pid, _ := io.ReadAll(io.LimitReader(file, 20))
	if holder := strings.TrimSpace(string(pid)); holder != "" {
		return fmt.Errorf("%s %w (pid %s): stop it, or choose another path", path, ErrInUse, holder)
	}
	return fmt.Errorf("%s %w: stop it, or choose another path", path, ErrInUse)
}

// release gives the database free, which SQLite must have closed. A nil lock, of a database in memory, has
// nothing to release.
func (l *lockFile) release() error {
	if l == nil {
		return nil
	}
	if l.database != nil {
		l.database.Close()
	}
	return l.file.Close()
}

// abandon is release for who does not start after all: a file that was named by
// mistake is left without a lock beside it that it did not have. The lock is held
// until the name is gone. Who has opened the file before that gets the lock behind
// us, and finds the name gone; who comes after it makes another file.
func (l *lockFile) abandon() error {
	if l.database != nil {
		l.database.Close() // what follows has nothing to do with it any more
		l.database = nil
	}
	var err error
	if l.created {
		err = os.Remove(l.file.Name())
	}
	return errors.Join(err, l.release())
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
