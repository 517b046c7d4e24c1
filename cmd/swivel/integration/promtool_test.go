package integration

import (
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
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

func TestPrometheusLikesTheMetricsOfADaemonThatHasServed(t *testing.T) {
	d := startDaemon(t, setup{lines: []string{closedProxy, closedProxy + "0 provider=acme"}})
	if _, err := io.Copy(io.Discard, askConnect(t, d.listen)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get("http://" + d.admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	promtool(t, resp.Body, "check", "metrics")
}
