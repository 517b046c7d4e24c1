package faults

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// TestReloadStorm: a thousand SIGHUPs in some seconds, while the list changes and
// clients ask. Nobody is hurt, and in the end the last list is in use.
func TestReloadStorm(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, sound)
	list := func(generation int) (lines []string) {
		for i := range 200 {
			lines = append(lines, fmt.Sprintf("u%d:p@%s name=p%d", generation*20+i, u.hostPort, generation*20+i))
		}
		return lines
	}
	d := startDaemon(t, swiveltest.Setup{Lines: list(0)})
	l := tunnels(6, client{proxy: d.Listen})
	pass(500 * time.Millisecond)
	before := d.holds(t)
	signals, began := either(300, 1000), time.Now()
	for n := range signals {
		if n%10 == 0 {
			d.WriteList(t, list(n))
		}
		d.Signal(t, syscall.SIGHUP)
		pass(3 * time.Millisecond)
	}
	took := time.Since(began)
	d.WriteList(t, list(signals))
	d.Signal(t, syscall.SIGHUP)
	last := fmt.Sprintf("p%d", signals*20+199)
	swiveltest.Eventually(t, 20*time.Second, "the last list is in use", func() bool { _, ok := d.Members(t)[last]; return ok })
	good := l.end(t, time.Now())
	after := d.settles(t, 10*time.Second, before)
	if n := len(d.Members(t)); n != 200 {
		t.Errorf("%d proxies, want 200", n)
	}
	note(t, "SIGHUPs", "%d in %v, of which %.0f reloads were made; %d tunnels meanwhile, none failed", signals, took.Round(100*time.Millisecond), d.Metric(t, "swivel_reloads_total"), good)
	note(t, "left behind", "before %v, after %v", before, after)
}

// TestReloadWhileStopping: reloads are asked for, and lists change, while the
// daemon lets its tunnels finish.
func TestReloadWhileStopping(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, sound)
	d := startDaemon(t, swiveltest.Setup{Lines: []string{u.hostPort}, Env: []string{"SWIVEL_GRACE=20s"}})
	var open []*tunnel
	for range 10 {
		one, _, err := client{proxy: d.Listen}.open("t.test:443")
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		open = append(open, one)
	}
	d.Signal(t, syscall.SIGTERM)
	swiveltest.Eventually(t, 5*time.Second, "it is stopping", func() bool { return len(d.Lines(t, "stopping")) > 0 })
	for n := range 100 {
		d.WriteList(t, []string{u.hostPort, fmt.Sprintf("u%d:p@%s", n, u.hostPort)})
		d.Signal(t, syscall.SIGHUP)
		if n%10 == 0 {
			if status, _ := d.Post(t, "/api/v1/reload", `{}`); status != http.StatusConflict {
				t.Errorf("a reload while stopping is answered with %d", status)
			}
		}
		pass(5 * time.Millisecond)
	}
	for _, one := range open {
		if err := one.echo(1000); err != nil {
			t.Errorf("a tunnel was hurt within its grace: %v", err)
		}
		_ = one.Close()
	}
	if code := d.Wait(t, 20*time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	note(t, "while stopping", "100 SIGHUPs, and 10 calls that are told so; tunnels had their grace, exit code 0")
}

// TestReloadWhileStarting: a SIGHUP comes when the list is still being read for
// the first time. It is a pipe, so that this takes as long as the test wants.
func TestReloadWhileStarting(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, sound)
	dir := t.TempDir()
	list := filepath.Join(dir, "proxies.txt")
	if err := syscall.Mkfifo(list, 0o600); err != nil {
		t.Fatal(err)
	}
	d := launch(t, swiveltest.Setup{Dir: dir})
	w, err := os.OpenFile(list, os.O_WRONLY, 0) // once the daemon reads it
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for range 20 {
		d.Signal(t, syscall.SIGHUP)
		pass(5 * time.Millisecond)
		if !d.Running() {
			t.Fatalf("a SIGHUP at the start ended it: %s", d.Output(t))
		}
	}
	d.WriteList(t, []string{u.hostPort}) // in the place of the pipe
	if _, err := w.WriteString(u.hostPort + "\n"); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	swiveltest.Eventually(t, 10*time.Second, "it is ready, and reloads", func() bool { return len(d.Lines(t, "ready")) == 1 && len(d.Lines(t, "reloaded")) >= 1 })
	note(t, "while starting", "20 SIGHUPs before it was ready, and one reload then")
}
