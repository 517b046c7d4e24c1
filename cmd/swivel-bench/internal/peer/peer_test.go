package peer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swivel/cmd/swivel-bench/internal/load"
	"swivel/cmd/swivel-bench/internal/process"
	"swivel/cmd/swivel-bench/internal/upstream"
)

// setting has two upstreams; everybody may enter its folder, unlike those of
// t.TempDir.
func setting(t *testing.T) Setting {
	t.Helper()
	dir, err := os.MkdirTemp("", "swivel-bench-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	u, err := upstream.Start(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.Close)
	return Setting{Upstreams: u.Ports(), Connections: 50, FDs: 1000, Dir: dir}
}

// TestEachPeerServesBothKindsOfRequests: a peer that is not installed fails the
// test, since one that did not run must not look like one that passed.
func TestEachPeerServesBothKindsOfRequests(t *testing.T) {
	s := setting(t)
	for _, k := range Others(process.As{}) {
		r, err := k.Start(t.Context(), s)
		if err != nil {
			t.Errorf("%s: %v", k.Name, err)
			continue
		}
		c := load.NewClient(r.Addr)
		for range 3 {
			if err := load.NewClient(r.Addr).Tunnel(); err != nil {
				t.Errorf("%s: tunnel: %v", k.Name, err)
			}
			if err := c.PlainAgain(); err != nil {
				t.Errorf("%s: plain: %v", k.Name, err)
			}
		}
		c.Close()
		if v := k.Version(); !strings.Contains(strings.ToLower(v), k.Program) {
			t.Errorf("the version of %s is %q", k.Name, v)
		}
		if err := r.Stop(); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
	if left, err := filepath.Glob(s.Dir + "/*"); len(left) > 0 || err != nil {
		t.Errorf("files were left: %q, %v", left, err)
	}
}

func TestProgramThatIsMissingIsNamedWithItsPackage(t *testing.T) {
	_, err := Kind{Name: "x", Program: "no-such-proxy"}.Start(t.Context(), Setting{})
	if err == nil || err.Error() != "not installed: apt-get install -y --no-install-recommends no-such-proxy" {
		t.Error(err)
	}
}

func TestProgramThatDoesNotStartSaysWhy(t *testing.T) {
	program := filepath.Join(t.TempDir(), "swivel")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho no memory\nexit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Swivel("swivel", program, process.As{}).Start(t.Context(), setting(t))
	if want := "swivel does not start\nit has ended: exit status 7\nit printed last:\nno memory"; err == nil || err.Error() != want {
		t.Error(err)
	}
}
