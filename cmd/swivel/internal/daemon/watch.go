package daemon

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// quiet is how long files must not have changed before they are read: long
// enough for whoever writes one in several steps.
const quiet = 300 * time.Millisecond

// watch tells when the files of lists, of users and of the certificate have changed.
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
	here   map[string]bool        // files that were seen, and not missed since
}

// newWatch begins to watch; nil if there are no files and a reload can name none, or
// it cannot.
func (d *Daemon) newWatch() *watch {
	if len(d.filePaths()) == 0 && d.readConfig == nil {
		return nil
	}
	events, err := fsnotify.NewWatcher()
	if err != nil {
		d.log.Warn().Err(err).Msg("files cannot be watched: they are read again with a reload only")
		return nil
	}
	w := &watch{d: d, events: events, due: time.NewTimer(quiet), armed: true, told: map[string]bool{}, here: map[string]bool{}}
	for _, path := range d.filesRead() { // one may be gone already
		w.here[path] = true
	}
	w.follow()
	return w
}

// run reloads when a file has changed, until ctx ends.
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
		case <-w.d.filesNamed:
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
	now := stat(w.d.filePaths())
	settled := len(now) == len(w.last)
	for path, info := range now {
		settled = settled && unchanged(w.last[path], info)
	}
	if w.last = now; !settled {
		w.arm()
		return
	}
	w.warnOfMissing(now)
	w.follow() // before they are read: what changes then is met by the next look
	w.d.reloadChanged(ctx, now)
}

// warnOfMissing says once of a file that is there no more. What it said stays in
// force: it may be about to come back.
func (w *watch) warnOfMissing(now map[string]fs.FileInfo) {
	for _, path := range w.d.filePaths() {
		if _, is := now[path]; is {
			w.here[path] = true
		} else if w.here[path] {
			w.here[path] = false
			w.d.log.Warn().Str("file", path).Msg("file is gone: what it said last stays in force, and the next start would fail")
		}
	}
}

// follow watches the folders of all files, and where links lead to.
func (w *watch) follow() {
	paths := w.d.filePaths()
	now := stat(paths)
	for _, path := range paths {
		_, is := now[path]
		if _, was := w.here[path]; !is && !was { // no file, but a pipe or the like
			continue
		}
		folders := []string{filepath.Dir(path)}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			folders = append(folders, filepath.Dir(real))
		}
		for _, folder := range folders {
			if err := w.events.Add(folder); err != nil && !w.told[folder] {
				w.told[folder] = true
				w.d.log.Warn().Err(err).Str("folder", folder).Msg("files cannot be watched: they are read again with a reload only")
			}
		}
	}
}

// filesRead are the files that were read.
func (d *Daemon) filesRead() []string {
	d.reloadMu.Lock()
	defer d.reloadMu.Unlock()
	return slices.AppendSeq(slices.Collect(maps.Keys(d.sources.seen)), maps.Keys(d.seen))
}

// filePaths are the files that are read again when they change.
func (d *Daemon) filePaths() (paths []string) {
	d.reloadMu.Lock()
	defer d.reloadMu.Unlock()
	for _, source := range d.cfg.Proxies {
		if !isURL(source) {
			paths = append(paths, source)
		}
	}
	for _, path := range []string{d.cfg.UsersFile, d.cfg.TLSCert, d.cfg.TLSKey} {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}
