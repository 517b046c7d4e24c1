package daemon

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// quiet is how long list files must not have changed before they are read: long
// enough for whoever writes one in several steps.
const quiet = 300 * time.Millisecond

// watch tells when list files have changed.
//
// It watches folders, because a file that is replaced, as editors and mv do,
// takes a watch on itself along. There much else may go on, such as a log or the
// database; so an event only means that it is time to look.
type watch struct {
	d      *Daemon
	events *fsnotify.Watcher
	due    *time.Timer
	armed  bool
	last   map[string]fs.FileInfo // as of the last look
	told   map[string]bool        // folders that cannot be watched, and of which the log says so
}

// newWatch begins to watch; nil if there are no files, or it cannot.
func (d *Daemon) newWatch() *watch {
	if len(d.lists()) == 0 {
		return nil
	}
	events, err := fsnotify.NewWatcher()
	if err != nil {
		d.log.Warn().Err(err).Msg("list files cannot be watched: they are read again with a reload only")
		return nil
	}
	w := &watch{d: d, events: events, due: time.NewTimer(quiet), armed: true, told: map[string]bool{}}
	w.follow()
	return w
}

// run reloads when a list file has changed, until ctx ends.
func (w *watch) run(ctx context.Context) {
	defer func() { _ = w.events.Close() }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.events.Events:
			w.arm()
		case <-w.events.Errors: // too many events, of which some are lost
			w.arm()
		case <-w.d.listsNamed:
			w.follow()
			w.arm()
		case <-w.due.C:
			w.look(ctx)
		}
	}
}

// arm lets the next look come, unless one is due already: in a busy folder it
// would never come else.
func (w *watch) arm() {
	if !w.armed {
		w.armed = true
		w.due.Reset(quiet)
	}
}

// look reloads if a file is not any more as it was read, but has not changed
// since the last look either.
func (w *watch) look(ctx context.Context) {
	w.armed = false
	now := w.d.listFiles()
	settled := len(now) == len(w.last)
	for path, info := range now {
		settled = settled && unchanged(w.last[path], info)
	}
	if w.last = now; !settled {
		w.arm()
		return
	}
	w.d.reloadChanged(ctx, now)
	w.follow()
}

// follow watches the folders of all list files, and where links lead to.
func (w *watch) follow() {
	for path := range w.d.listFiles() {
		folders := []string{filepath.Dir(path)}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			folders = append(folders, filepath.Dir(real))
		}
		for _, folder := range folders {
			if err := w.events.Add(folder); err != nil && !w.told[folder] {
				w.told[folder] = true
				w.d.log.Warn().Err(err).Str("folder", folder).Msg("list files cannot be watched: they are read again with a reload only")
			}
		}
	}
}

// listFiles are the lists that are files and exist, as they are now.
func (d *Daemon) listFiles() map[string]fs.FileInfo {
	files := map[string]fs.FileInfo{}
	for _, source := range d.lists() {
		if isURL(source) {
			continue
		}
		if info, err := os.Stat(source); err == nil && info.Mode().IsRegular() {
			files[source] = info
		}
	}
	return files
}
