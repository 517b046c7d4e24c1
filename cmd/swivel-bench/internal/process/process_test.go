package process

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func start(t *testing.T, script string) *Group {
	t.Helper()
	g, err := Start(exec.Command("sh", "-c", script), t.TempDir(), "script", As{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Stop(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// eventually polls, since nothing tells when another process has got somewhere.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within 20 s: " + what)
		}
	}
}

func TestHelpersCountAsTheProgram(t *testing.T) {
	g := start(t, "(while :; do :; done) & wait")
	eventually(t, "the helper has used the processor", func() bool {
		used, err := g.CPU()
		if err != nil {
			t.Fatal(err)
		}
		return used > 50*time.Millisecond
	})
	u, err := g.Usage()
	if err != nil {
		t.Fatal(err)
	}
	// Two shells, each with its standard input, output and error at least.
	if u.Threads != 2 || u.FDs < 6 || u.RSS < 200<<10 {
		t.Errorf("%+v", u)
	}
}

func TestHelpersEndWithTheProgram(t *testing.T) {
	// The helper ignores the polite signal, and its parent does not wait for it.
	g := start(t, "(trap '' TERM; while :; do sleep 1; done) & wait")
	eventually(t, "there are two", func() bool {
		members, err := g.members()
		return err == nil && len(members) >= 2
	})
	if err := g.Stop(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all are gone", func() bool { return syscall.Kill(-g.id, 0) == syscall.ESRCH })
	if _, err := g.CPU(); err == nil || !strings.HasPrefix(err.Error(), "script is gone\n") {
		t.Errorf("the processor time of what is gone: %v", err)
	}
}

func TestFailureShowsWhatWasPrinted(t *testing.T) {
	g := start(t, "echo 'no such option' >&2; exit 3")
	<-g.Ended()
	want := "script does not listen\nit has ended: exit status 3\nit printed last:\nno such option"
	if got := g.Failure("does not listen").Error(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestParseStat(t *testing.T) {
	pid, group, err := parseStat([]byte("42 (a) R 1) S 7 40 9 0 -1\n"))
	if pid != 42 || group != 40 || err != nil {
		t.Errorf("%d, %d, %v", pid, group, err)
	}
	for _, bad := range []string{"", "42", "42 (x) Z 7 40 9", "42 (x) S 7", "y (x) S 7 40", "42 (x) S 7 y"} {
		if _, _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestParseStatus(t *testing.T) {
	rss, threads, err := parseStatus("Name:\tx\nVmRSS:\t    2048 kB\nThreads:\t3\n")
	if rss != 2<<20 || threads != 3 || err != nil {
		t.Errorf("%d, %d, %v", rss, threads, err)
	}
	for _, bad := range []string{"", "VmRSS:\t1 kB\n", "VmRSS:\tmuch\nThreads:\t1\n", "VmRSS:\t1 kB\nThreads:\tfew\n"} {
		if _, _, err := parseStatus(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}
