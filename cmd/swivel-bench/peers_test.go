package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swivel/cmd/swivel-bench/internal/peer"
)

// TestShortRoundOfEveryWorkload with swivel alone; it says nothing about the
// figures but that there are some.
func TestShortRoundOfEveryWorkload(t *testing.T) {
	t.Setenv("TMPDIR", roomForAll(t))
	code, out, errOut := runBench(t, t.Context(), "peers", "--alone", "--rounds", "1", "--scale", "0.01")
	if code != exitOK || strings.Contains(errOut, "failed:") {
		t.Fatalf("exit code %d:\n%s%s", code, out, errOut)
	}
	rows := 0
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "swivel" && !strings.Contains(line, ";") {
			rows++
			if strings.Contains(line, " 0.0 ") || strings.Contains(line, "NaN") {
				t.Errorf("nothing was measured: %s", line)
			}
		}
	}
	want := 5
	if _, ok := nobody(); ok {
		want += 2
	}
	if rows != want || strings.Count(errOut, "round 1 of 1") != want {
		t.Errorf("%d rows, want %d:\n%s%s", rows, want, out, errOut)
	}
	if left, err := filepath.Glob(os.Getenv("TMPDIR") + "/*"); len(left) > 0 || err != nil {
		t.Errorf("files were left: %q, %v", left, err)
	}
}

// roomForAll is a folder that other users may enter, unlike t.TempDir, and in
// which swivel is not built.
func roomForAll(t *testing.T) string {
	t.Helper()
	if _, err := swivelBinary(); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "swivel-bench-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestInterruptionLeavesNothingBehind(t *testing.T) {
	t.Setenv("TMPDIR", roomForAll(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, out, errOut := runBench(t, ctx, "peers", "--alone", "--workload", "plain"); code != exitRuntime || out != "" || errOut != "swivel-bench: interrupted\n" {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	if left, err := filepath.Glob(os.Getenv("TMPDIR") + "/*"); len(left) > 0 || err != nil {
		t.Errorf("files were left: %q, %v", left, err)
	}
}

func TestPeerThatIsMissingIsNamed(t *testing.T) {
	kinds := []peer.Kind{{Name: "sh", Program: "sh"}, {Name: "other", Program: "no-such-proxy"}}
	installed, missing := find(kinds)
	if len(installed) != 1 || installed[0].Name != "sh" {
		t.Errorf("installed: %+v", installed)
	}
	var out strings.Builder
	say(&out, missing)
	if want := "not compared with other: not installed: apt-get install -y --no-install-recommends no-such-proxy\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"peers --rounds 0", "swivel-bench: peers: --rounds: want 1 to 1000\nTry 'swivel-bench --help'.\n"},
		{"peers --scale NaN", "swivel-bench: peers: --scale: want more than 0, and 100 at most\nTry 'swivel-bench --help'.\n"},
		{"soak --for 1ms", "swivel-bench: soak: --for: want 1s to 168h\nTry 'swivel-bench --help'.\n"},
		{"peers --workload idle --workload busy", "swivel-bench: peers: --workload: there is no \"busy\"\nTry 'swivel-bench --help'.\n"},
	} {
		if code, out, errOut := runBench(t, t.Context(), strings.Fields(c.args)...); code != exitUsage || errOut != c.want || out != "" {
			t.Errorf("%s: exit code %d: %s%s", c.args, code, out, errOut)
		}
	}
}

func TestIdleTunnelsFitTheDescriptors(t *testing.T) {
	for fds, want := range map[int]int{1024: 12, 20_000: 9500, 1 << 20: 10_000, 100: 1} {
		if got := idleTunnels(10_000, fds); got != want {
			t.Errorf("%d tunnels with %d descriptors, want %d", got, fds, want)
		}
	}
}
