package daemon

import (
	"io/fs"
	"maps"
	"os"
	"syscall"
)

// seenFiles are files as they were when they were read last, whatever came of it:
// one that cannot be read is not to be tried again and again. The zero value has
// seen none.
type seenFiles map[string]fs.FileInfo

// look notes how files are now, just before they are read.
func (s *seenFiles) look(paths ...string) { s.note(stat(paths)) }

func (s *seenFiles) note(files map[string]fs.FileInfo) {
	if *s == nil {
		*s = seenFiles{}
	}
	maps.Copy(*s, files)
}

// changed says whether one of the paths is not any more as it was read. One that
// is missing may be about to be replaced.
func (s seenFiles) changed(now map[string]fs.FileInfo, paths ...string) bool {
	for _, path := range paths {
		if info, ok := now[path]; ok && !unchanged(s[path], info) {
			return true
		}
	}
	return false
}

// unchanged says whether a file has not changed, nor who may read it. The time of
// what it says can be set by anybody, and on some file systems counts in seconds.
func unchanged(a, b fs.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && inodeTime(a) == inodeTime(b)
}

// inodeTime is when the system last changed anything about the file.
func inodeTime(info fs.FileInfo) syscall.Timespec {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim
	}
	return syscall.Timespec{}
}

// stat is how those of the paths are that are files and exist.
func stat(paths []string) map[string]fs.FileInfo {
	files := map[string]fs.FileInfo{}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			files[path] = info
		}
	}
	return files
}
