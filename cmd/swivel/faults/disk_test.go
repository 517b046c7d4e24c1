package faults

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

const (
	incident  = "cannot write the database"
	recovered = "the database can be written again"
)

// diskTest is a daemon whose database lies on a file system of its own.
type diskTest struct {
	disk   string
	bad    *upstream // of many proxies
	daemon daemon
}

// newDisk mounts a file system of so many KiB. A limit for the size of a process's
// files would not do instead: it would hit the log first.
func newDisk(t *testing.T, kib int) *diskTest {
	t.Helper()
	wantRoot(t, "mount a small file system")
	d := &diskTest{disk: t.TempDir()}
	if err := syscall.Mount("swivel-faults", d.disk, "tmpfs", 0, fmt.Sprintf("size=%dk", kib)); err != nil {
		notRun(t, "this machine mounts no tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	d.bad = newUpstream(t, gateway)
	good := newUpstream(t, sound)
	lines := []string{good.hostPort + " name=good weight=8000"} // so that no request meets five bad ones
	for i := range 400 {                                        // each is somebody else to swivel, with a row of its own
		lines = append(lines, fmt.Sprintf("u%d:p@%s name=bad-%d", i, d.bad.hostPort, i))
	}
	d.daemon = startDaemon(t, swiveltest.Setup{Dir: d.disk, Lines: lines})
	return d
}

// use makes requests until as many proxies more have been judged, none of which
// a client may notice.
func (d *diskTest) use(t *testing.T, more float64) {
	t.Helper()
	want := d.daemon.Metric(t, "swivel_attempts_total") + more
	for n := 0; n%50 > 0 || d.daemon.Metric(t, "swivel_attempts_total") < want; n++ {
		if _, err := (client{proxy: d.daemon.Listen}).visit(fmt.Sprintf("t%d.test:443", n)); err != nil {
			t.Fatalf("a client was hurt: %v", err)
		}
	}
}

// incidents waits until the log holds so many ends of incidents, and wants as
// many beginnings.
func (d *diskTest) incidents(t *testing.T, want int) {
	t.Helper()
	swiveltest.Eventually(t, 15*time.Second, "the database is written again", func() bool { return len(d.daemon.Lines(t, recovered)) == want })
	if begins := d.daemon.Lines(t, incident); len(begins) != want {
		t.Errorf("%d lines say that the database cannot be written, want %d", len(begins), want)
	}
}

// nothingIsLost compares what the daemon knows with what is stored, when all is
// quiet.
func (d daemon) nothingIsLost(t *testing.T) (rows int) {
	t.Helper()
	swiveltest.Eventually(t, 15*time.Second, "everything is stored", func() bool { return d.Metric(t, "swivel_journal_pending_records") == 0 })
	known, s := d.Members(t), readStored(t, d.DB)
	if s.integrity != "ok" {
		t.Fatalf("integrity_check: %s", s.integrity)
	}
	for name, m := range known {
		r, found := s.breakers[m.ID]
		if m.State != r.state && (found || m.State != "closed") || m.State == "open" && !same(m.Due(), r.next) {
			t.Errorf("%s is %+v and stored as %+v", name, m, r)
		}
	}
	return len(s.breakers)
}

// TestDiskFull: the database's file system is filled up, and then has room again,
// more than once.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	d := newDisk(t, 1024)
	filler := filepath.Join(d.disk, "filler")
	times := either(2, 10)
	for i := range times {
		f, err := os.Create(filler)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = io.Copy(f, zeros{}); err == nil {
			t.Fatal("the disk does not get full")
		}
		_ = f.Close()
		d.use(t, 400)
		swiveltest.Eventually(t, 10*time.Second, "the incident is told", func() bool { return len(d.daemon.Lines(t, incident)) == i+1 })
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		d.incidents(t, i+1)
	}
	rows := d.daemon.nothingIsLost(t)
	note(t, "disk full (tmpfs)", "%d times, one line each; %d rows, all as the daemon knew them", times, rows)
	if code := d.daemon.Stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
