package swiveltest

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Setup is how a daemon is started. The zero value is one without any proxies.
type Setup struct {
	Dir   string   // where list and database are; a new folder when empty
	Lines []string // of the proxy list; nil: the list is left as it is
	Env   []string // beside PlainEnv
	Host  string   // where clients connect; 127.0.0.1 when empty
	Logs  string   // an existing folder to keep the log in; empty: it goes with the test

	Shell string               // done by a shell, which the daemon then takes the place of
	Files []*os.File           // handed over, from descriptor 3 on
	Attr  *syscall.SysProcAttr // of the process; nil: none

	// Enter moves the thread that starts the process into other namespaces, and
	// Dial connects to the admin API there. Nil: those of the test.
	Enter func() error
	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
}

// Command is swivel with these arguments, set up so.
func (s Setup) Command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	args = append([]string{Program(t)}, args...)
	if s.Shell != "" {
		args = append([]string{"/bin/sh", "-c", s.Shell + ` && exec "$0" "$@"`}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = s.Dir, append(PlainEnv(), s.Env...), s.Files
	if s.Attr != nil {
		attr := *s.Attr // of this process alone: more is set at its start
		cmd.SysProcAttr = &attr
	}
	return cmd
}

// Daemon is a running swivel. When it ends, its output is searched for what no log
// may ever hold.
type Daemon struct {
	*Child
	Dir, List, DB string // paths
	Listen, Admin string // host:port; empty before it is ready

	web *http.Client
}

// Serve starts a daemon on ports that the system gives, and returns once it says
// that it is ready.
func Serve(t testing.TB, s Setup) *Daemon {
	t.Helper()
	d := Launch(t, s)
	d.AwaitReady(t)
	return d
}

// Launch starts a daemon, which may not get far.
func Launch(t testing.TB, s Setup) *Daemon {
	t.Helper()
	if s.Dir == "" {
		s.Dir = t.TempDir()
	}
	if s.Logs == "" {
		s.Logs = t.TempDir()
	}
	d := &Daemon{Dir: s.Dir, List: filepath.Join(s.Dir, "proxies.txt"), DB: filepath.Join(s.Dir, "swivel.db")}
	if s.Lines != nil {
		d.WriteList(t, s.Lines)
	}
	d.web = &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: s.Dial}}
	d.Child = start(t, "swivel", s.Command(t, "serve", "--proxies", d.List, "--db", d.DB,
		"--listen", cmp.Or(s.Host, "127.0.0.1")+":0", "--admin", "127.0.0.1:0"), s.Logs, s.Enter)
	t.Cleanup(func() {
		d.end(t)
		d.checkOutput(t)
	})
	return d
}

// AwaitReady waits until the daemon says that it is ready, and where.
func (d *Daemon) AwaitReady(t testing.TB) {
	t.Helper()
	Eventually(t, 30*time.Second, "swivel is ready", func() bool {
		running := d.Running()
		for _, l := range d.Lines(t, "ready") {
			d.Listen, d.Admin = l.Listen, l.Admin
		}
		if !running && d.Listen == "" {
			t.Fatalf("swivel ended: %s", d.Output(t))
		}
		return d.Listen != ""
	})
}

// WriteList writes the proxy list, in one step.
func (d *Daemon) WriteList(t testing.TB, lines []string) {
	t.Helper()
	next := d.List + ".next"
	err := os.WriteFile(next, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
	if err == nil {
		err = os.Rename(next, d.List)
	}
	if err != nil {
		t.Fatal(err)
	}
}
