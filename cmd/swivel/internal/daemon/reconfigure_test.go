package daemon

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/config"
)

const hash = ":$2y$05$....................................................."

// reconfigured starts a daemon that reads next when it reloads.
func reconfigured(t *testing.T, next *config.Config) *rig {
	r := newRig(t, "192.0.2.1:1")
	d, err := r.open()
	if err != nil {
		t.Fatal(err)
	}
	*next = r.cfg
	d.ReadConfigWith(func() (config.Config, error) { return *next, nil })
	r.runs(d)
	return r
}

func TestReloadChangesWhatItCanAndNamesWhatItCannot(t *testing.T) {
	var next config.Config
	r := reconfigured(t, &next)
	other := r.list + ".other"
	if err := os.WriteFile(other, []byte("192.0.2.1:1\n192.0.2.1:2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	next.Proxies, next.Users, next.Log.Level = []string{other}, []string{"alice" + hash}, "warn"
	next.Breaker.OpenTimeout, next.Limits.Connections = config.Duration(time.Minute), 7
	done, err := r.Reload()
	if err != nil || done.Added != 1 || !slices.Equal(done.RestartNeeded, []string{"breaker.open_timeout", "limits.connections"}) {
		t.Errorf("%+v, %v", done, err)
	}
	if len(r.log.lines("the configuration has changed in keys that take a restart")) != 1 || len(r.log.lines("reloaded")) != 0 {
		t.Error("the log has not the new level")
	}
	if status := r.connect("example.org:443"); status != 407 {
		t.Errorf("the new users are not asked for a password: %d", status)
	}
	if err := os.WriteFile(other, []byte("192.0.2.1:2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.eventually("the other list is watched", r.members(1))
}

func TestReloadOfAWrongConfigurationChangesNothingOfIt(t *testing.T) {
	var next config.Config
	r := reconfigured(t, &next)
	next.Proxies, next.Log.Level = []string{r.list + ".missing"}, "warn"
	if _, err := r.Reload(); err == nil || !strings.Contains(err.Error(), "the old pool stays") {
		t.Errorf("%v", err)
	}
	next.Proxies, next.Log.Level = []string{r.list}, "info"
	r.write("192.0.2.1:1", "192.0.2.1:2")
	if _, err := r.Reload(); err != nil || !r.members(2)() {
		t.Errorf("%v", err)
	}
	r.ReadConfigWith(func() (config.Config, error) { return next, errors.New("config: swivel.yaml: line 3: unknown key x") })
	next.Users = []string{"alice" + hash}
	r.write("192.0.2.1:1", "192.0.2.1:2", "192.0.2.1:3")
	if _, err := r.Reload(); err == nil || err.Error() != "config: swivel.yaml: line 3: unknown key x: the old configuration stays" || !r.members(3)() {
		t.Errorf("%v", err)
	}
	if status := r.connect("example.org:443"); status == 407 {
		t.Error("users of a refused configuration count")
	}
}

// A file that takes the users away and listens on loopback instead is fine as a
// whole; of the running daemon it used to make an open proxy.
func TestReloadNeverMakesAnOpenProxy(t *testing.T) {
	var next config.Config
	r := newRig(t, "192.0.2.1:1")
	r.cfg.Listen, r.cfg.Users = "0.0.0.0:0", []string{"alice" + hash}
	d, err := r.open()
	if err != nil {
		t.Fatal(err)
	}
	next = r.cfg
	next.Listen, next.Users = "127.0.0.1:0", nil
	d.ReadConfigWith(func() (config.Config, error) { return next, nil })
	r.runs(d)
	if _, err := r.Reload(); err == nil || !strings.Contains(err.Error(), "listen: 0.0.0.0:0 can be reached") {
		t.Errorf("%v", err)
	}
	if !r.guard.Required() {
		t.Error("everybody is served")
	}
}

// Nobody watched anything where a daemon had begun with lists of URLs alone.
func TestFileThatAReloadNamesFirstIsWatched(t *testing.T) {
	v := newVendor(t, "192.0.2.1:1\n")
	r := newRig(t, "192.0.2.1:1")
	next := r.cfg
	r.cfg.Proxies = []string{v.url}
	d, err := r.open()
	if err != nil {
		t.Fatal(err)
	}
	d.ReadConfigWith(func() (config.Config, error) { return next, nil })
	r.runs(d)
	r.eventually("it runs", func() bool { return len(r.log.lines("ready")) == 1 })
	if _, err := r.Reload(); err != nil {
		t.Fatal(err)
	}
	r.write("192.0.2.1:1", "192.0.2.1:2")
	r.eventually("the file is watched", r.members(2))
}
