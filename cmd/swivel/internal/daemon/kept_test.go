package daemon

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/config"
)

func (v *vendor) version(tag, date string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tag, v.date = tag, date
}

// keptFiles are the lists that are kept beside the database.
func (r *rig) keptFiles() (paths []string) {
	r.t.Helper()
	paths, err := filepath.Glob(filepath.Join(r.cfg.DB+".lists", "*"))
	if err != nil {
		r.t.Fatal(err)
	}
	return paths
}

// A vendor that was down for the minute of a deploy used to keep the daemon down.
func TestListOfAnEarlierLifeServesWhenTheVendorIsDown(t *testing.T) {
	v := newVendor(t, "192.0.2.1:1:user:s3cret\n192.0.2.1:2\n")
	r := newRig(t)
	r.cfg.Proxies = []string{v.url}
	r.start()
	kept := r.keptFiles()
	if len(kept) != 1 {
		t.Fatalf("kept: %q", kept)
	}
	for path, want := range map[string]fs.FileMode{kept[0]: 0o600, filepath.Dir(kept[0]): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	v.say(503, "")
	r.restart()
	if !r.members(2)() || len(r.log.lines("list not refreshed: what it said last is used")) != 1 {
		t.Errorf("%d proxies", len(r.pool.Proxies()))
	}
	r.stop()
	for _, spoilt := range []string{"", "{}\n", "no json\n192.0.2.1:1\n", "{}\n# nothing\n"} {
		if err := os.WriteFile(kept[0], []byte(spoilt), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := r.open(); err == nil || !strings.Contains(err.Error(), "answered 503") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", spoilt, err)
		}
	}
	if text := r.log.String(); strings.Contains(text, "s3cret") {
		t.Errorf("the log has the secret: %s", text)
	}
}

func TestLookAtListsFindsWhatAStartWouldAndKeepsIt(t *testing.T) {
	v := newVendor(t, "192.0.2.1:1\n192.0.2.1:2\n")
	r := newRig(t)
	r.cfg.Proxies = []string{v.url}
	r.start()
	r.stop()
	look := func(sources ...string) (Lists, error) {
		return LookAtLists(sources, breaker.DefaultSettings(), r.cfg.DB)
	}
	before, err := os.ReadFile(r.keptFiles()[0])
	if err != nil {
		t.Fatal(err)
	}
	v.say(200, "192.0.2.1:9\n")
	if lists, err := look(v.url); err != nil || len(lists.Specs) != 1 || len(lists.Stale) != 0 {
		t.Errorf("%d proxies, %v, %v", len(lists.Specs), lists.Stale, err)
	}
	if _, err := look(r.list); err == nil { // an empty file: the kept list is not needed, and stays
		t.Error("an empty list is usable")
	}
	v.say(503, "")
	lists, err := look(v.url)
	if err != nil || len(lists.Specs) != 2 || len(lists.Stale) != 1 || strings.Contains(lists.Stale[0].Error(), "s3cret") {
		t.Errorf("%d proxies, %v, %v", len(lists.Specs), lists.Stale, err)
	}
	if after, err := os.ReadFile(r.keptFiles()[0]); err != nil || string(after) != string(before) {
		t.Errorf("what is kept has become %q, %v", after, err)
	}
	if _, err := LookAtLists([]string{v.url}, breaker.DefaultSettings(), ":memory:"); err == nil {
		t.Error("kept in memory?")
	}
}

func TestListThatHasNotChangedIsNotSentAgain(t *testing.T) {
	v := newVendor(t, "192.0.2.1:1\n192.0.2.1:2\n")
	v.version(`"one"`, "Mon, 30 Nov 2026 05:00:00 GMT")
	r := newRig(t)
	r.cfg.Proxies = []string{v.url}
	r.start()
	if done, err := r.Reload(); err != nil || done.Kept != 2 || len(done.Stale) != 0 || v.unchanged.Load() != 1 {
		t.Errorf("%+v, %v, %d", done, err, v.unchanged.Load())
	}
	r.restart()
	if !r.members(2)() || v.unchanged.Load() != 2 {
		t.Errorf("%d proxies, %d answers without a list", len(r.pool.Proxies()), v.unchanged.Load())
	}
	v.version(`"two"`, "Mon, 30 Nov 2026 06:00:00 GMT")
	v.say(200, "192.0.2.1:1\n")
	if done, err := r.Reload(); err != nil || done.Removed != 1 {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestServerThatSaysNotModifiedUnaskedIsNotBelieved(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }))
	defer server.Close()
	if _, err := ReadLists([]string{server.URL}, breaker.DefaultSettings()); err == nil || !strings.Contains(err.Error(), "answered 304") {
		t.Errorf("%v", err)
	}
}

func TestListsThatAreNoLongerAskedAreForgotten(t *testing.T) {
	one, other := newVendor(t, "192.0.2.1:1\n"), newVendor(t, "192.0.2.1:2\n")
	r := newRig(t)
	r.cfg.Proxies = []string{one.url}
	r.start()
	first := r.keptFiles()
	r.stop()
	r.cfg.Proxies = []string{other.url}
	r.start()
	if second := r.keptFiles(); len(first) != 1 || len(second) != 1 || first[0] == second[0] {
		t.Errorf("%q, then %q", first, second)
	}
}

// What a reload is refused for may be that the new lists are wrong: the old ones are
// asked again then, and may be needed at the next start.
func TestListsThatARefusedReloadDoesNotNameStay(t *testing.T) {
	v, self := newVendor(t, "192.0.2.1:1\n"), newVendor(t, "")
	var next config.Config
	r := newRig(t)
	r.cfg.Proxies = []string{v.url}
	d, err := r.open()
	if err != nil {
		t.Fatal(err)
	}
	self.say(200, d.Addr().String()+"\n")
	next = r.cfg
	next.Proxies = []string{self.url}
	d.ReadConfigWith(func() (config.Config, error) { return next, nil })
	r.runs(d)
	kept := r.keptFiles()
	if _, err := r.Reload(); err == nil {
		t.Fatal("a list of nobody but swivel itself is accepted")
	}
	if after := r.keptFiles(); len(kept) != 1 || !slices.Contains(after, kept[0]) {
		t.Errorf("%q, then %q", kept, after)
	}
}

// Vendors put a secret into the URL that changes: each of them used to stay in memory,
// with all of its list.
func TestListsThatAReloadNoLongerNamesTakeNoMemory(t *testing.T) {
	var next config.Config
	one, other := newVendor(t, "192.0.2.1:1\n"), newVendor(t, "192.0.2.1:2\n")
	r := newRig(t)
	r.cfg.Proxies = []string{one.url}
	d, err := r.open()
	if err != nil {
		t.Fatal(err)
	}
	next = r.cfg
	d.ReadConfigWith(func() (config.Config, error) { return next, nil })
	r.runs(d)
	next.Proxies = []string{other.url}
	if _, err := r.Reload(); err != nil || len(d.sources.kept) != 1 || len(r.keptFiles()) != 1 {
		t.Errorf("%v, %d in memory, %q", err, len(d.sources.kept), r.keptFiles())
	}
}

func TestListThatCannotBeKeptIsUsed(t *testing.T) {
	v := newVendor(t, "192.0.2.1:1\n")
	r := newRig(t)
	r.cfg.Proxies = []string{v.url}
	if err := os.WriteFile(r.cfg.DB+".lists", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.start()
	if !r.members(1)() || len(r.log.lines("list not kept for the next start")) != 1 {
		t.Errorf("%d proxies", len(r.pool.Proxies()))
	}
}

// A list is written by somebody else: it used to be able to have any variable sent
// to a proxy of its choice.
func TestListFromAURLLearnsNothingOfTheEnvironment(t *testing.T) {
	t.Setenv("AWS_SECRET", "s3cret")
	v := newVendor(t, "user:${AWS_SECRET}@192.0.2.1:1\n192.0.2.1:2\n")
	lists, err := ReadLists([]string{v.url}, breaker.DefaultSettings())
	if err != nil || len(lists.Specs) != 1 || len(lists.Skipped) != 1 {
		t.Errorf("%+v, %v", lists, err)
	}
}

func TestAddressOfAListIsNotToldToWhereItRedirects(t *testing.T) {
	var referer string
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		referer = r.Header.Get("Referer")
		_, _ = w.Write([]byte("192.0.2.1:1\n"))
	}))
	defer target.Close()
	first := httptest.NewServer(http.RedirectHandler(target.URL, http.StatusFound))
	defer first.Close()
	if _, err := ReadLists([]string{first.URL + "/?key=s3cret"}, breaker.DefaultSettings()); err != nil || referer != "" {
		t.Errorf("%v, %q", err, referer)
	}
}
