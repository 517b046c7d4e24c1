package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// moveAside renames a damaged file and what belongs to it, under one dated
// name. The file itself goes last: were
// we killed in between, a log must not be left beside a database that it is
// not of.
func moveAside(path string, now time.Time) (string, error) {
	aside := freeName(path + ".corrupt-" + now.UTC().Format("20060102T150405Z"))
	for _, suffix := range []string{"-wal", "-shm", ""} {
		err := os.Rename(path+suffix, aside+suffix)
		if err != nil && !(suffix != "" && errors.Is(err, fs.ErrNotExist)) {
			return "", fmt.Errorf("state file %s is damaged and cannot be moved aside: %w", path, err)
		}
	}
	return aside, nil
}

// freeName avoids overwriting the evidence of a moment ago.
func freeName(name string) string {
	free := name
	for i := 2; ; i++ {
		if _, err := os.Lstat(free); errors.Is(err, fs.ErrNotExist) {
			return free
		}
		free = fmt.Sprintf("%s-%d", name, i)
	}
}
