package metrics

import (
	"fmt"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/fleet"
	"swivel/pool"
	"swivel/storage"
)

// newMetrics counts over a pool of the given list lines.
func newMetrics(t testing.TB, lines ...string) (*Metrics, *pool.Pool) {
	t.Helper()
	list, err := pool.ParseList(strings.NewReader(strings.Join(lines, "\n")+"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := pool.New(list.Specs, pool.Options{Salt: []byte("salt"), Breaker: breaker.DefaultSettings()}, time.Now())
	return New(Sources{
		Pool:        p,
		Journal:     func() storage.Stats { return storage.Stats{Pending: 3, Failures: 2, Lag: 1500 * time.Millisecond} },
		RetryBudget: func(time.Time) float64 { return 499.5 },
		Connections: func() int { return 7 },
		LinesLost:   func() uint64 { return 11 },
		Fleet: func() (fleet.Status, bool) {
			return fleet.Status{Up: true, Instances: 3, Leases: 2, Behind: -time.Second, Failures: 4}, true
		},
	}), p
}

// scrape parses what a scrape gets.
func scrape(t *testing.T, m *Metrics) (families map[string]*dto.MetricFamily, text string) {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	body, _ := io.ReadAll(w.Body)
	text = string(body)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil || w.Code != 200 {
		t.Fatalf("status %d, %v", w.Code, err)
	}
	return families, text
}

// attempt makes one exchange of one attempt, which fails with the signal, or
// succeeds.
func attempt(t *testing.T, m *Metrics, p *pool.Pool, s pool.Signal) {
	t.Helper()
	now := time.Now()
	x, refusal, _ := p.Begin(pool.Request{ID: "id", Target: "s3cret.test:443"}, now)
	if refusal != nil {
		t.Fatal("refused")
	}
	l, events, ok := x.Next(now, time.Minute, false)
	if !ok {
		t.Fatal("no proxy")
	}
	if s == pool.FirstByte {
		events = append(events, x.Reached(l, s, time.Millisecond, now)...)
	} else {
		events = append(events, x.Fail(l, pool.Fault{Signal: s}, now)...)
	}
	for _, ev := range append(events, x.End(now)...) {
		m.Event(ev)
	}
}

func TestWhatHappenedIsCounted(t *testing.T) {
	m, p := newMetrics(t, "127.0.0.1:1 name=one provider=acme", "127.0.0.1:2")
	m.Exchange(&eventlog.Exchange{Kind: "connect", Status: 200, Opened: 30 * time.Millisecond, Up: 10, Down: 20, Target: "s3cret.test:443", User: "s3cret"})
	m.Exchange(&eventlog.Exchange{Kind: "connect", Status: 200, Up: 1, Attempts: []pool.Attempt{{Signal: pool.DialRefused}, {Signal: pool.FirstByte, Took: 80 * time.Millisecond}}})
	m.Exchange(&eventlog.Exchange{Kind: "plain", Status: 502})
	attempt(t, m, p, pool.FirstByte)
	attempt(t, m, p, pool.HandshakeAuth)
	m.Reload(true, time.Unix(1_770_000_000, 0))
	m.Reload(false, time.Now())
	families, text := scrape(t, m)
	for _, want := range []string{
		`swivel_exchanges_total{kind="connect",status="200"} 2`,
		`swivel_exchanges_total{kind="plain",status="502"} 1`,
		`swivel_exchange_opened_seconds_count{kind="connect"} 1`,
		`swivel_tunnel_first_byte_seconds_bucket{le="0.05"} 0`,
		`swivel_tunnel_first_byte_seconds_bucket{le="0.1"} 1`,
		`swivel_transitions_total{from="closed",rule="rate",to="open"} 0`,
		`swivel_in_flight_attempts 2`, // of which the test never says that they ended,
		`swivel_sessions 0`,
		`swivel_content_bytes_total{direction="up"} 11`,
		`swivel_content_bytes_total{direction="down"} 20`,
		`swivel_attempts_total{outcome="success",signal="first_byte"} 1`,
		`swivel_attempts_total{outcome="refused",signal="handshake_auth"} 1`,
		`swivel_transitions_total{from="closed",rule="refused",to="open"} 1`,
		`swivel_local_outage 0`,
		`swivel_journal_pending_records 3`,
		`swivel_journal_lag_seconds 1.5`,
		`swivel_journal_failed_writes_total 2`,
		`swivel_retry_budget_tokens 499.5`,
		`swivel_connections 7`,
		`swivel_log_lines_lost_total 11`,
		`swivel_reloads_total{result="success"} 1`,
		`swivel_reloads_total{result="refused"} 1`,
		`swivel_reload_last_success_timestamp_seconds 1.77e+09`,
		`swivel_redirected_exchanges_total 0`,
		`swivel_redirected_attempts_total 0`,
		`swivel_redirected_failures_total 0`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	if problems, err := promlint.New(strings.NewReader(text)).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
	if strings.Contains(text, "s3cret") || strings.Contains(text, "127.0.0.1") {
		t.Error("a target, a user or an address is in it")
	}
	if families["go_goroutines"] == nil || families["process_open_fds"] == nil {
		t.Error("nothing about the process")
	}
	open := 0.0
	for _, series := range families["swivel_breaker_state"].GetMetric() {
		open += series.GetGauge().GetValue()
	}
	if n := len(families["swivel_breaker_state"].GetMetric()); n != 2 || open != 2 {
		t.Errorf("%d breakers, states add up to %v", n, open)
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestLargePoolsAreToldBySegment(t *testing.T) {
	var lines []string
	for i := range mostProxies + 1 {
		lines = append(lines, fmt.Sprintf("192.0.2.1:%d provider=p%d", i+1, i%3))
	}
	m, _ := newMetrics(t, lines...)
	families, _ := scrape(t, m)
	if families["swivel_breaker_state"] != nil {
		t.Error("every proxy of a large pool has a series")
	}
	sum := 0.0
	for _, series := range families["swivel_proxies"].GetMetric() {
		sum += series.GetGauge().GetValue()
	}
	if n := len(families["swivel_proxies"].GetMetric()); n != 9 || sum != mostProxies+1 {
		t.Errorf("%d series, %v proxies", n, sum)
	}
}

func TestListInWhichEveryLineIsASegmentIsBounded(t *testing.T) {
	var lines []string
	for i := range 3 * mostSegments {
		lines = append(lines, fmt.Sprintf("192.0.2.1:%d region=r%d", i+1, i))
	}
	m, _ := newMetrics(t, lines...)
	families, _ := scrape(t, m)
	sum := 0.0
	for _, series := range families["swivel_proxies"].GetMetric() {
		sum += series.GetGauge().GetValue()
	}
	if n := len(families["swivel_proxies"].GetMetric()); n > 3*(mostSegments+1) || sum != 3*mostSegments {
		t.Errorf("%d series, %v proxies", n, sum)
	}
}

// A target chooses the status of a plain response.
func TestStatusesAreAClosedSet(t *testing.T) {
	m, _ := newMetrics(t, "127.0.0.1:1")
	for status := -1; status < 2000; status++ {
		m.Exchange(&eventlog.Exchange{Kind: "plain", Status: status})
	}
	families, text := scrape(t, m)
	var words []string
	for _, series := range families["swivel_exchanges_total"].GetMetric() {
		for _, l := range series.GetLabel() {
			if l.GetName() == "status" {
				words = append(words, l.GetValue())
			}
		}
	}
	if len(words) > 80 || !slices.Contains(words, "499") || !slices.Contains(words, "404") || slices.Contains(words, "299") {
		t.Errorf("%d statuses: %v", len(words), words)
	}
	for _, want := range []string{`status="none"} 1101`, `status="9xx"} 100`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestEveryRuleAndStateHasAPlace(t *testing.T) {
	if breaker.Rule(rules).String() != "unknown" || breaker.Rule(rules-1).String() == "unknown" {
		t.Error("there are more rules than places for them, or fewer")
	}
	if breaker.State(len(states)).String() != "unknown" {
		t.Error("there are more states than places for them")
	}
}

func TestCountingAllocatesNothing(t *testing.T) {
	m, _ := newMetrics(t, "127.0.0.1:1")
	x := &eventlog.Exchange{Kind: "socks5", Status: 200, Opened: time.Millisecond, Up: 1, Down: 1,
		Attempts: []pool.Attempt{{Signal: pool.DialRefused}, {Signal: pool.FirstByte, Took: time.Second}}}
	if n := testing.AllocsPerRun(100, func() { m.Exchange(x) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	(*Metrics)(nil).Exchange(x) // counts nowhere
	(*Metrics)(nil).Event(pool.Event{})
	(*Metrics)(nil).Reload(true, time.Now())
}

func BenchmarkExchange(b *testing.B) {
	m, _ := newMetrics(b, "127.0.0.1:1")
	x := &eventlog.Exchange{Kind: "connect", Status: 200, Opened: time.Millisecond, Up: 1, Down: 1}
	for b.Loop() {
		m.Exchange(x)
	}
}
