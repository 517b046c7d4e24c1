package integration

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// TestReloadOfARunningDaemon changes list and configuration under it, as an
// editor, a deploy and an operator do.
func TestReloadOfARunningDaemon(t *testing.T) {
	config := t.TempDir() + "/swivel.yaml"
	writeFile(t, config, "limits: {connections: 100}\n", 0o600)
	d := startDaemon(t, swiveltest.Setup{Lines: []string{"192.0.2.1:1"}, Env: []string{"SWIVEL_CONFIG=" + config}})
	reloaded := func(added int) func() bool {
		return func() bool {
			return slices.ContainsFunc(d.Lines(t, "reloaded"), func(l swiveltest.Line) bool { return l.Added == added })
		}
	}
	writeFile(t, d.List+".new", "192.0.2.1:1\n192.0.2.1:2\n192.0.2.1:3\n", 0o600)
	if err := os.Rename(d.List+".new", d.List); err != nil {
		t.Fatal(err)
	}
	swiveltest.Eventually(t, 20*time.Second, "the list that was replaced is in use", reloaded(2))

	writeFile(t, config, "limits: {connections: 200}\nbreaker: {window: 2m}\n", 0o600)
	d.Signal(t, syscall.SIGHUP)
	swiveltest.Eventually(t, 20*time.Second, "the keys that take a restart are named", func() bool {
		return strings.Contains(d.Output(t), `"keys":"breaker.window, limits.connections"`)
	})
	writeFile(t, config, "limits: {conections: 200}\n", 0o600)
	out, err := swiveltest.Setup{}.Command(t, "reload", "--admin", d.Admin).CombinedOutput()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 || !strings.Contains(string(out), "unknown key limits.conections; is limits.connections meant?") || !strings.HasSuffix(string(out), ": the old configuration stays\n") {
		t.Errorf("%v: %s", err, out)
	}
}
