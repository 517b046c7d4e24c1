package integration

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"swivel/cmd/swivel/internal/swiveltest"
)

// TestNobodyReadsTheLog: requests are served as ever, also those that open a breaker,
// and a stop still ends.
func TestNobodyReadsTheLog(t *testing.T) {
	const requests = 60
	o, sound, dead := newOrigin(t), newToy(t, "127.0.0.32"), newToy(t, "127.0.0.31")
	sound.open(t, carry)
	d, log := startUnread(t, swiveltest.Setup{Lines: []string{dead.hostPort, sound.hostPort}})
	client := d.browse(o)
	client.Timeout = 5 * time.Second
	for i := range requests {
		if _, err := get(client, o.https+"/ip"); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	d.Signal(t, syscall.SIGTERM)
	if code := d.Wait(t, 10*time.Second); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	left, err := io.ReadAll(log)
	if n := strings.Count(string(left), `"exchange"`); err != nil || n == 0 || n >= requests {
		t.Errorf("the log has %d exchanges, so it did not stall (%v)", n, err)
	}
}

// startUnread starts a daemon whose standard error is a small pipe, which is read up
// to the line "ready" and then left alone.
func startUnread(t *testing.T, s swiveltest.Setup) (daemon, *bufio.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Fatal(err)
	}
	s.Files, s.Shell = []*os.File{w}, "exec 2>&3 3>&-"
	d := daemon{swiveltest.Launch(t, s)}
	_ = w.Close()
	_ = r.SetReadDeadline(time.Now().Add(30 * time.Second))
	log := bufio.NewReader(r)
	for d.Listen == "" {
		text, err := log.ReadBytes('\n')
		var l swiveltest.Line
		if err == nil {
			err = json.Unmarshal(text, &l)
		}
		if err != nil {
			t.Fatalf("before the daemon was ready: %v: %s", err, text)
		}
		d.Listen, d.Admin = l.Listen, l.Admin
	}
	return d, log
}
