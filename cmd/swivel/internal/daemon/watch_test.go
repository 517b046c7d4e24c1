package daemon

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func (r *rig) members(want int) func() bool {
	return func() bool { return len(r.pool.Proxies()) == want }
}

func TestChangedListIsReadWithoutBeingTold(t *testing.T) {
	r := newRig(t, "192.0.2.1:1")
	r.start()
	r.write("192.0.2.1:1", "192.0.2.1:2")
	r.eventually("a file written in place is read", r.members(2))

	next := r.list + ".new"
	if err := os.WriteFile(next, []byte("192.0.2.1:1\n192.0.2.1:2\n192.0.2.1:3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.rename(next, r.list)
	r.eventually("a file that was replaced is read", r.members(3))

	r.rename(r.list, r.list+"~") // as editors do that keep the old one
	r.write("192.0.2.1:1")
	r.eventually("a file that was made anew is read", r.members(1))
	r.write("192.0.2.1:1", "192.0.2.1:2")
	r.eventually("and watched as before", r.members(2))
}

func TestListThatIsGoneIsMissedOnce(t *testing.T) {
	r := newRig(t, "192.0.2.1:1")
	r.start()
	for i := range 2 {
		if err := os.Remove(r.list); err != nil {
			t.Fatal(err)
		}
		r.eventually("it is missed", func() bool { return len(r.log.lines("file is gone")) == i+1 })
		if !r.members(i + 1)() {
			t.Errorf("%d proxies", len(r.pool.Proxies()))
		}
		other := filepath.Join(filepath.Dir(r.list), "other") // something else happens in the folder
		if err := os.WriteFile(other, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		r.write("192.0.2.1:1", "192.0.2.1:2")
		r.eventually("it is back", r.members(2))
	}
	lines := r.log.lines("file is gone")
	if len(lines) != 2 || lines[0]["file"] != r.list || lines[0]["level"] != "warn" {
		t.Errorf("%v", lines)
	}
}

// A folder that a link leads to is changed as a whole, as Kubernetes does it.
func TestListBehindLinksIsWatched(t *testing.T) {
	r := newRig(t, "192.0.2.1:1")
	dir := t.TempDir()
	for version, text := range map[string]string{"v1": "192.0.2.1:1\n", "v2": "192.0.2.1:1\n192.0.2.1:2\n"} {
		if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, version, "list"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("v1", "..data")
	link("..data/list", "list")
	r.cfg.Proxies = []string{filepath.Join(dir, "list")}
	r.start()
	link("v2", "..next")
	r.rename(filepath.Join(dir, "..next"), filepath.Join(dir, "..data"))
	r.eventually("the other version is read", r.members(2))
	if err := os.WriteFile(filepath.Join(dir, "v2", "list"), []byte("192.0.2.1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.eventually("what the link leads to is watched", r.members(1))
}

func TestWatchedListThatIsEmptyOrHalfWrittenIsRefusedOnce(t *testing.T) {
	r := newRig(t, "192.0.2.1:1", "192.0.2.1:2", "192.0.2.1:3")
	r.start()
	for i, text := range []string{"", "192.0.2.1:1", "# nothing\n"} {
		if err := os.WriteFile(r.list, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r.eventually("it was refused", func() bool { return len(r.log.lines("reload refused")) == i+1 })
	}
	r.rename(r.list, r.list+".away") // to be missing is no change
	r.write("192.0.2.1:1", "192.0.2.1:2", "192.0.2.1:3", "192.0.2.1:4", "192.0.2.1:5")
	r.eventually("the whole list is read", r.members(5))
	if n := len(r.log.lines("reload refused")); n != 3 {
		t.Errorf("%d refusals", n)
	}
}

// A folder in which a log grows used to be one in which there is never quiet.
func TestBusyFolderDoesNotKeepAListFromBeingRead(t *testing.T) {
	r := newRig(t, "192.0.2.1:1")
	r.start()
	noise, err := os.Create(filepath.Join(filepath.Dir(r.list), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer noise.Close()
	r.write("192.0.2.1:1", "192.0.2.1:2")
	r.eventually("the list is read", func() bool {
		_, _ = noise.WriteString("noise\n")
		return len(r.pool.Proxies()) == 2
	})
	for deadline := time.Now().Add(2 * quiet); time.Now().Before(deadline); {
		_, _ = noise.WriteString("noise\n")
	}
	if n := len(r.log.lines("reloaded")); n != 1 {
		t.Errorf("%d reloads for one change", n)
	}
}

// With the log in the same folder, each line about it used to be the reason for
// the next.
func TestListThatCannotBeReadIsNotTriedAgainAndAgain(t *testing.T) {
	r := newRig(t, "192.0.2.1:1")
	r.start()
	elsewhere, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(r.list); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r.reloadChanged(t.Context(), map[string]fs.FileInfo{r.list: elsewhere})
	}
	if n := len(r.log.lines("reload refused")); n != 1 {
		t.Errorf("%d refusals", n)
	}
}

// Saving a file ten times used to ask the vendor ten times.
func TestChangedFileDoesNotFetchURLs(t *testing.T) {
	v := newVendor(t, "192.0.2.9:1\n")
	r := newRig(t, "192.0.2.1:1")
	r.cfg.Proxies = append(r.cfg.Proxies, v.url)
	r.start()
	v.say(200, "192.0.2.9:1\n192.0.2.9:2\n")
	asked := v.asked.Load()
	r.write("192.0.2.1:1", "192.0.2.1:2")
	r.eventually("the file is read", r.members(3))
	if n := v.asked.Load(); n != asked {
		t.Errorf("the vendor was asked %d times", n-asked)
	}
	if done, err := r.Reload(); err != nil || done.Added != 1 || done.Kept != 3 {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestReloadSaysWhatWasRefused(t *testing.T) {
	r := newRig(t, "192.0.2.1:1")
	r.cfg.UsersFile = filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(r.cfg.UsersFile, []byte("alice:$2y$05$"+strings.Repeat(".", 53)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.start()
	r.write("192.0.2.1:1", "bad", "worse", "192.0.2.1:2", "ss://secret@h:1")
	done, err := r.Reload()
	if err != nil || done.Added > 1 || done.Skipped != 3 || done.Reasons["the address has no port"] != 2 {
		t.Errorf("%+v, %v", done, err)
	}
	if err := os.WriteFile(r.cfg.UsersFile, []byte("alice:s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.write("# nothing")
	_, err = r.Reload()
	if err == nil || !strings.Contains(err.Error(), "line 1: ") || !strings.Contains(err.Error(), ": the old users stay") ||
		!strings.Contains(err.Error(), ": the old pool stays") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("%v", err)
	}
}

// A password may be changed within the second that some file systems count in, and
// by one that is as long.
func TestListOfTheSameSizeAndTimeWasTakenForUnchanged(t *testing.T) {
	r := newRig(t, "192.0.2.1:1 name=a")
	r.start()
	as, err := os.Stat(r.list)
	if err != nil {
		t.Fatal(err)
	}
	r.write("192.0.2.1:1 name=b")
	if err := os.Chtimes(r.list, as.ModTime(), as.ModTime()); err != nil {
		t.Fatal(err)
	}
	r.eventually("it is read", func() bool { return r.pool.Proxies()[0].Spec.Name == "b" })
}
