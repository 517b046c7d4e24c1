package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"swivel/cmd/swivel/internal/swiveltest"
)

// promtool runs it beside the alerts.
func promtool(t *testing.T, input io.Reader, args ...string) {
	t.Helper()
	cmd := exec.Command(installed(t, "promtool", "prometheus"), args...)
	cmd.Dir, cmd.Stdin = deploy+"prometheus", input
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "FAILED") {
		t.Errorf("promtool %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

func TestAlertsAreRaisedWhenTheyShould(t *testing.T) {
	promtool(t, nil, "check", "config", "prometheus.yaml")
	promtool(t, nil, "test", "rules", "alerts_test.yaml")
}

// TestDashboardAsksInPromQL: as rules its queries can be checked without a server.
func TestDashboardAsksInPromQL(t *testing.T) {
	text, err := os.ReadFile(deploy + "grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	rules := "groups: [{name: dashboard, rules: ["
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			query := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*").Replace(target.Expr)
			rules += fmt.Sprintf("{record: 'a:%d', expr: %q},\n", len(rules), query)
		}
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	writeFile(t, file, rules+"]}]", 0o600)
	promtool(t, nil, "check", "rules", file)
}

func TestPrometheusLikesTheMetricsOfADaemonThatHasServed(t *testing.T) {
	d := startDaemon(t, swiveltest.Setup{Lines: []string{closedProxy, closedProxy + "0 provider=acme"}})
	if _, err := io.Copy(io.Discard, askConnect(t, d.Listen)); err != nil {
		t.Fatal(err)
	}
	promtool(t, strings.NewReader(d.Get(t, "/metrics")), "check", "metrics")
}
