package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"swivel/breaker"
	"swivel/pool"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("swivel_"+name, help, labels, nil)
}

var (
	exchangesTotal   = desc("exchanges_total", "Client requests that are over, by what the client was told.", "kind", "status")
	bytesTotal       = desc("content_bytes_total", "Bytes of content carried for clients.", "direction")
	attemptsTotal    = desc("attempts_total", "Attempts with a verdict, by what they ran into and what that counted as.", "outcome", "signal")
	canaryTotal      = desc("canary_attempts_total", "Attempts of the canary with a verdict, which are in none of the other counts.", "outcome", "signal")
	transitionsTotal = [...]*prometheus.Desc{
		desc("transitions_total", "Changes of the state of proxies' breakers.", "from", "to", "rule"),
		desc("segment_transitions_total", "Changes of the state of segments' breakers.", "from", "to", "rule"),
	}
	skippedTotal = desc("skipped_picks_total", "Proxies passed over while one was looked for, by reason.", "reason")

	redirectedExchanges = desc("redirected_exchanges_total", "Client requests of which a pick fell on a segment that rests or is full.")
	redirectedAttempts  = desc("redirected_attempts_total", "Attempts that redirected requests made elsewhere.")
	redirectedFailures  = desc("redirected_failures_total", "Attempts of redirected requests that did not serve.")

	reloadsTotal   = desc("reloads_total", "Reloads of the proxy lists.", "result")
	reloadSuccess  = desc("reload_last_success_timestamp_seconds", "When a reload last worked, in unix time; 0 if none has.")
	journalPending = desc("journal_pending_records", "States that are not in the database yet.")
	journalLag     = desc("journal_lag_seconds", "How long the oldest state that is not in the database is overdue.")
	journalWritten = desc("journal_written_records_total", "States written to the database.")
	journalFailed  = desc("journal_failed_writes_total", "Writes to the database that failed.")
	journalDropped = desc("journal_dropped_records_total", "States that were refused because they make no sense.")
	retryBudget    = desc("retry_budget_tokens", "Retries and second requests that may be made at once.")
	connections    = desc("connections", "Clients that are connected.")
	logLost        = desc("log_lines_lost_total", "Lines of the log that were not written because its reader did not keep up.")
	localOutage    = desc("local_outage", "1 while all proxies seem to fail because of this machine's network.")

	breakerState  = desc("breaker_state", "State of a proxy's breaker: 0 closed, 1 half open, 2 open. Only in pools of up to 1,000.", "proxy")
	poolProxies   = desc("proxies", "Proxies by segment and state of their breaker; no segment: none, or one of too many to tell.", "segment", "state")
	inFlight      = desc("in_flight_attempts", "Requests and tunnels that proxies carry now.")
	sessions      = desc("sessions", "Sessions that are kept on a proxy.")
	pausedProxies = desc("paused_proxies", "Proxies that the operator has taken out.")
)

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		exchangesTotal, bytesTotal, attemptsTotal, canaryTotal, transitionsTotal[0], transitionsTotal[1], skippedTotal,
		redirectedExchanges, redirectedAttempts, redirectedFailures, reloadsTotal, reloadSuccess,
		journalPending, journalLag, journalWritten, journalFailed, journalDropped, retryBudget, connections, logLost, localOutage,
		breakerState, poolProxies, inFlight, sessions, pausedProxies,
		fleetUp, fleetAlone, fleetInstances, fleetSilence, fleetBehind, fleetLeases, fleetPending, fleetLag, fleetCalls, fleetFailed, fleetTold, fleetLearnt,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. Of counters with several labels only
// the combinations that came up are there, and the ways in which a breaker opens:
// whoever waits for the first proxy to be refused has to see it begin at 0.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	out, now := output{ch}, time.Now()
	m.collectTraffic(out)
	m.collectBreakers(out)
	m.collectDaemon(out, now)
	m.collectPool(out, now)
	m.collectFleet(out, now)
}

// output makes metrics of numbers.
type output struct{ ch chan<- prometheus.Metric }

func (o output) counter(d *prometheus.Desc, n uint64, labels ...string) {
	o.ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

func (o output) gauge(d *prometheus.Desc, v float64, labels ...string) {
	o.ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (o output) seen(d *prometheus.Desc, n *atomic.Uint64, labels ...string) {
	if n := n.Load(); n > 0 {
		o.counter(d, n, labels...)
	}
}

func (o output) attempts(d *prometheus.Desc, counts pool.Counts) {
	for signal, outcomes := range counts {
		for outcome, n := range outcomes {
			if n > 0 {
				o.counter(d, n, breaker.Outcome(outcome).String(), pool.Signal(signal).String())
			}
		}
	}
}

func (m *Metrics) collectTraffic(out output) {
	for k := range m.exchanges {
		for i := range m.exchanges[k] {
			out.seen(exchangesTotal, &m.exchanges[k][i], kinds[k], statusWord(i))
		}
	}
	out.counter(bytesTotal, m.up.Load(), "up")
	out.counter(bytesTotal, m.down.Load(), "down")
	out.attempts(attemptsTotal, m.sources.Pool.Settled())
	out.attempts(canaryTotal, m.sources.Pool.SettledCanaries())
	for reason, n := range m.sources.Pool.Skips() {
		if n > 0 {
			out.counter(skippedTotal, n, pool.Skip(reason).String())
		}
	}
	r := m.sources.Pool.Redirected()
	out.counter(redirectedExchanges, r.Exchanges)
	out.counter(redirectedAttempts, r.Attempts)
	out.counter(redirectedFailures, r.Failures)
}

func (m *Metrics) collectBreakers(out output) {
	for of, d := range transitionsTotal {
		for _, from := range states {
			for _, to := range states {
				for rule := range rules {
					n := m.transitions[of][from][to][rule].Load()
					if n > 0 || from == breaker.Closed && opens(breaker.Rule(rule)) && to == breaker.Open {
						out.counter(d, n, from.String(), to.String(), breaker.Rule(rule).String())
					}
				}
			}
		}
	}
}

// opens says whether a closed breaker can open by the rule.
func opens(r breaker.Rule) bool {
	return r == breaker.RuleRun || r == breaker.RuleRate || r == breaker.RuleSlow || r == breaker.RuleRefused || r == breaker.RuleThrottled
}

func (m *Metrics) collectDaemon(out output, now time.Time) {
	out.counter(reloadsTotal, m.reloads[0].Load(), "success")
	out.counter(reloadsTotal, m.reloads[1].Load(), "refused")
	out.gauge(reloadSuccess, float64(m.reloadedAt.Load())/1e9)
	j := m.sources.Journal()
	out.gauge(journalPending, float64(j.Pending))
	out.gauge(journalLag, j.Lag.Seconds())
	out.counter(journalWritten, j.Written)
	out.counter(journalFailed, j.Failures)
	out.counter(journalDropped, j.Dropped)
	out.gauge(retryBudget, m.sources.RetryBudget(now))
	out.gauge(connections, float64(m.sources.Connections()))
	out.counter(logLost, m.sources.LinesLost())
	outage := 0.0
	if m.sources.Pool.LocalOutage() {
		outage = 1
	}
	out.gauge(localOutage, outage)
}
