package faults

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// TestNames: the names of proxies cannot be found, in every way in which name
// servers fail. The others serve, the log has the right word, no client waits for
// longer than it takes to connect, and a name that comes back is used.
func TestNames(t *testing.T) {
	t.Parallel()
	in := newNetwork(t)
	server := newNameServer(t, in)
	up := newUpstreamIn(t, in, "127.0.0.1:0", sound)
	_, port, err := net.SplitHostPort(up.hostPort)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	resolver := filepath.Join(dir, "resolv.conf")
	if err := os.WriteFile(resolver, []byte("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	words := map[string]string{
		"silent": "dial_timeout", "garbage": "dial_timeout", "servfail": "dial_no_name", "nxdomain": "dial_no_name",
		"refused": "dial_no_name", "empty": "dial_no_name", "cut": "dial_no_name", "good": "first_byte",
	}
	s := swiveltest.Setup{
		Dir: dir, Enter: in.enter, Dial: in.dial, Lines: []string{up.hostPort + " name=numbers weight=8"},
		Env:   []string{"SWIVEL_ATTEMPTS_DIAL_TIMEOUT=2s"},
		Attr:  &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS},
		Shell: "mount --bind " + resolver + " /etc/resolv.conf", // in its own view of the files only
	}
	for kind := range words {
		s.Lines = append(s.Lines, fmt.Sprintf("%s.proxies.test:%s name=%s", kind, port, kind))
	}
	d := startDaemon(t, s)
	began := time.Now()
	for kind := range words { // who asks for such a one gets it, or an answer
		at := time.Now()
		got, err := client{proxy: d.Listen, in: in, user: "u+proxy=" + kind}.visit("t.test:443")
		if (err == nil) != (kind == "good") || kind != "good" && got.code == "" {
			t.Errorf("%s: %+v, %v", kind, got, err)
		}
		if took := time.Since(at); took > 5*time.Second+inTime {
			t.Errorf("%s: an answer after %v", kind, took)
		}
	}
	for n := range 40 {
		if _, err := (client{proxy: d.Listen, in: in}).visit(fmt.Sprintf("t%d.test:443", n)); err != nil {
			t.Errorf("a client was hurt: %v", err)
		}
	}
	d.AwaitLog(t)
	for _, l := range d.Lines(t, "exchange") {
		for _, a := range l.Attempts {
			if want := words[a.Name]; want != "" && a.Signal != want {
				t.Errorf("%s is called %s, want %s", a.Name, a.Signal, want)
			}
		}
	}
	if !*long {
		note(t, "ways to fail", "%d; each named right, everybody else served; %v in all", len(words)-1, time.Since(began).Round(100*time.Millisecond))
		return
	}
	server.down.Store(true)
	pass(61*time.Second - time.Since(began)) // as long as an answer is believed
	if _, err := (client{proxy: d.Listen, in: in, user: "u+proxy=good"}).visit("t.test:443"); err != nil {
		t.Errorf("the name server fails, and the last good answer is not used: %v", err)
	}
	note(t, "ways to fail", "%d; each named right, everybody else served; the last good answer is kept", len(words)-1)
}
