package metrics

import (
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

var update = flag.Bool("update", false, "write docs/metrics.md anew")

// root is where the module is.
const root = "../../../../"

// described is a metric as its description has it.
type described struct{ name, kind, labels, help string }

var descriptionForm = regexp.MustCompile(`^Desc\{fqName: "(.*)", help: "(.*?)"(?:, unit: "")?, constLabels: \{\}, variableLabels: \{(.*)\}\}$`)

// all are swivel's metrics, by name.
func all(t *testing.T) (metrics []described) {
	t.Helper()
	m, _ := newMetrics(t, "127.0.0.1:1")
	descs := make(chan *prometheus.Desc)
	go func() { m.registry.Describe(descs); close(descs) }()
	for d := range descs {
		found := descriptionForm.FindStringSubmatch(d.String())
		if found != nil && strings.HasPrefix(found[1], "swivel_") {
			metrics = append(metrics, described{found[1], kindOfMetric(found[1]), found[3], found[2]})
		}
	}
	slices.SortFunc(metrics, func(a, b described) int { return cmp.Compare(a.name, b.name) })
	return metrics
}

// histograms are those of seconds that are no gauge.
var histograms = []string{"swivel_exchange_opened_seconds", "swivel_tunnel_first_byte_seconds"}

func kindOfMetric(name string) string {
	switch {
	case strings.HasSuffix(name, "_total"):
		return "counter"
	case slices.Contains(histograms, name):
		return "histogram"
	}
	return "gauge"
}

// TestDocsAreWhatTheRegistrySays: with -update they become it.
func TestDocsAreWhatTheRegistrySays(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Metrics\n\n<!-- made by go test ./cmd/swivel/internal/metrics -run Docs -update -->\n\n" +
		"`GET /metrics` on the admin listener, for Prometheus; beside these the usual `go_` and `process_` metrics. Labels are fixed\n" +
		"words, and ids and segments of the pool: never a target, a user or an address.\n\n" +
		"[deploy/prometheus](../deploy/prometheus) has alerts, [deploy/grafana](../deploy/grafana) a dashboard.\n\n" +
		"| metric | type | |\n| --- | --- | --- |\n")
	for _, d := range all(t) {
		name := d.name
		if d.labels != "" {
			name += "{" + d.labels + "}"
		}
		b.WriteString("| `" + name + "` | " + d.kind + " | " + d.help + " |\n")
	}
	const file = root + "docs/metrics.md"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != b.String() {
		t.Errorf("docs/metrics.md is not what the registry says (%v): go test ./cmd/swivel/internal/metrics -run Docs -update", err)
	}
}

// TestKindsAreRight: the descriptions do not have them.
func TestKindsAreRight(t *testing.T) {
	m, _ := newMetrics(t, "127.0.0.1:1")
	families, _ := scrape(t, m)
	for name, family := range families {
		if got := strings.ToLower(family.GetType().String()); strings.HasPrefix(name, "swivel_") && got != kindOfMetric(name) {
			t.Errorf("%s is a %s", name, got)
		}
	}
}

var metricName = regexp.MustCompile(`swivel_[a-z_]+`)

// TestWhatWatchesSwivelAsksForMetricsThatExist in alerts and in the dashboard.
func TestWhatWatchesSwivelAsksForMetricsThatExist(t *testing.T) {
	exist := map[string]bool{}
	for _, d := range all(t) {
		exist[d.name] = true
		if d.kind == "histogram" {
			exist[d.name+"_bucket"], exist[d.name+"_count"], exist[d.name+"_sum"] = true, true, true
		}
	}
	for _, file := range []string{"prometheus/alerts.yaml", "prometheus/alerts_test.yaml", "grafana/dashboard.json"} {
		text, err := os.ReadFile(root + "deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		names := metricName.FindAllString(string(text), -1)
		if len(names) == 0 {
			t.Errorf("%s asks for nothing", file)
		}
		for _, name := range names {
			if !exist[name] {
				t.Errorf("%s asks for %s, which does not exist", file, name)
			}
		}
	}
}

// dashboard is as much of one as is checked.
type dashboard struct {
	Panels []struct {
		Title, Description, Type string
		Targets                  []struct{ Expr string }
		FieldConfig              struct {
			Defaults struct {
				Thresholds struct{ Steps []struct{ Value *float64 } }
				Custom     struct{ ThresholdsStyle struct{ Mode string } }
			}
		}
	}
}

func TestEveryPanelAsksAndHasAThreshold(t *testing.T) {
	text, err := os.ReadFile(root + "deploy/grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Panels) < 8 {
		t.Errorf("%d panels", len(d.Panels))
	}
	for _, p := range d.Panels {
		defaults := p.FieldConfig.Defaults
		if len(p.Targets) == 0 || p.Description == "" {
			t.Errorf("%s asks for nothing, or does not say what it is", p.Title)
		}
		for _, target := range p.Targets {
			if !metricName.MatchString(target.Expr) {
				t.Errorf("%s asks for %q", p.Title, target.Expr)
			}
		}
		if len(defaults.Thresholds.Steps) < 2 || p.Type == "timeseries" && defaults.Custom.ThresholdsStyle.Mode == "off" {
			t.Errorf("%s shows no threshold", p.Title)
		}
	}
}
