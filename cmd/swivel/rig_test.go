package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/daemon"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/systemd"
)

// rig is a daemon that commands can ask.
type rig struct {
	t    *testing.T
	d    *daemon.Daemon
	list string // file
	next config.Config
}

// newRig runs a daemon over the list lines until the test ends.
func newRig(t *testing.T, lines ...string) *rig {
	t.Helper()
	return newRigOf(t, write(t, "proxies.txt", strings.Join(lines, "\n")+"\n"))
}

// newRigOf runs a daemon over a list.
func newRigOf(t *testing.T, list string) *rig {
	t.Helper()
	r := &rig{t: t, list: list}
	r.next = config.Default()
	r.next.Listen, r.next.Admin, r.next.DB = "127.0.0.1:0", "127.0.0.1:0", filepath.Join(t.TempDir(), "swivel.db")
	r.next.Proxies, r.next.Grace = []string{r.list}, config.Duration(time.Second)
	log, err := eventlog.New(io.Discard, "json", "info")
	if err != nil {
		t.Fatal(err)
	}
	if r.d, err = daemon.Open(t.Context(), r.next, systemd.Sockets{}, log); err != nil {
		t.Fatal(err)
	}
	r.d.ReadConfigWith(func() (config.Config, error) { return r.next, nil })
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := r.d.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return r
}

// ask runs a command against the daemon.
func (r *rig) ask(args ...string) (code int, out, errOut string) {
	r.t.Helper()
	env := func(name string) (string, bool) { return "tester", name == "USER" }
	var o, e bytes.Buffer
	code = run(append(args, "--admin", r.d.AdminAddr().String()), env, &o, &e)
	return code, o.String(), e.String()
}

// id is that of the proxy with the name.
func (r *rig) id(name string) string {
	r.t.Helper()
	for _, m := range r.d.Pool().Proxies() {
		if m.Spec.Name == name {
			return string(m.ID)
		}
	}
	r.t.Fatalf("no proxy %s", name)
	return ""
}

// paused are the names of those that are put aside.
func (r *rig) paused() string {
	var names []string
	for _, m := range r.d.Pool().Proxies() {
		if why := m.Paused(); why != nil {
			name := m.Spec.Name
			if why.Drain {
				name += " drained"
			}
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func (r *rig) write(lines ...string) {
	r.t.Helper()
	if err := os.WriteFile(r.list, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		r.t.Fatal(err)
	}
}
