package integration

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestReloadOfARunningDaemon changes list and configuration under it, as an
// editor, a deploy and an operator do.
func TestReloadOfARunningDaemon(t *testing.T) {
	config := t.TempDir() + "/swivel.yaml"
	writeFile(t, config, "limits: {connections: 100}\n", 0o600)
	d := startDaemon(t, setup{lines: []string{"192.0.2.1:1"}, env: []string{"SWIVEL_CONFIG=" + config}})
	reloaded := func(added int) func() bool {
		return func() bool {
			found := false
			d.lines(t, "reloaded", func(line []byte) {
				var l struct{ Added int }
				found = json.Unmarshal(line, &l) == nil && l.Added == added || found
			})
			return found
		}
	}
	writeFile(t, d.list+".new", "192.0.2.1:1\n192.0.2.1:2\n192.0.2.1:3\n", 0o600)
	if err := os.Rename(d.list+".new", d.list); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, "the list that was replaced is in use", reloaded(2))

	writeFile(t, config, "limits: {connections: 200}\nbreaker: {window: 2m}\n", 0o600)
	d.signal(t, syscall.SIGHUP)
	eventually(t, 20*time.Second, "the keys that take a restart are named", func() bool {
		return strings.Contains(d.output(t), `"keys":"breaker.window, limits.connections"`)
	})
	writeFile(t, config, "limits: {conections: 200}\n", 0o600)
	cmd := exec.Command(program(t), "reload", "--admin", d.admin)
	cmd.Env = plainEnv()
	out, err := cmd.CombinedOutput()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 || !strings.Contains(string(out), "unknown key conections") || !strings.HasSuffix(string(out), ": the old configuration stays\n") {
		t.Errorf("%v: %s", err, out)
	}
}
