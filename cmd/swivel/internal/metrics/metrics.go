// Package metrics counts what happens and tells it to Prometheus.
//
// What clients and breakers do is counted as it happens, by one addition to an
// array: no label is looked up on the way of a request. Everything else is asked
// for when somebody scrapes. Labels are words of closed sets, and names and ids
// of the pool; never a target, a user or an address, of which there may be any
// number.
//
//	m := metrics.New(metrics.Sources{Pool: p, ...})
//	m.Exchange(&line)         // on the way of a request
//	mux.Handle("/metrics", m) // for the scrape
package metrics

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/fleet"
	"swivel/pool"
	"swivel/storage"
)

// Sources are the parts of the daemon that are asked at each scrape.
type Sources struct {
	Pool        *pool.Pool
	Journal     func() storage.Stats
	RetryBudget func(now time.Time) float64
	Connections func() int
	LinesLost   func() uint64               // of the log
	Fleet       func() (fleet.Status, bool) // false: there is none
}

// Metrics are the counters of one daemon. Its methods are safe for concurrent
// use; those that count do nothing on a nil Metrics.
type Metrics struct {
	http.Handler // answers a scrape
	registry     *prometheus.Registry
	sources      Sources

	exchanges   [len(kinds)][statuses]atomic.Uint64
	opened      [len(kinds)]prometheus.Observer
	firstByte   prometheus.Histogram
	up, down    atomic.Uint64
	transitions [2]transitions // of proxies, of segments
	reloads     [2]atomic.Uint64
	reloadedAt  atomic.Int64 // unix nanoseconds of the last reload that worked; 0: none
}

// transitions are counts by the states before and after, and the rule.
type transitions [len(states)][len(states)][rules]atomic.Uint64

// rules is how many there are.
const rules = int(breaker.RuleSlow) + 1

var states = [...]breaker.State{breaker.Closed, breaker.Open, breaker.HalfOpen}

// seconds are the bounds of what histograms tell apart: from a proxy next door to
// one behind a satellite, and to exchange_timeout.
var seconds = []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// New returns metrics in a registry of their own, beside those of the Go runtime
// and of the process.
func New(s Sources) *Metrics {
	m := &Metrics{sources: s}
	opened := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "swivel_exchange_opened_seconds",
		Help:    "Time until the 200 to a tunnel, or until the head of a plain response.",
		Buckets: seconds,
	}, []string{"kind"})
	m.firstByte = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "swivel_tunnel_first_byte_seconds",
		Help:    "Time from asking a proxy for a tunnel until the first byte of the target.",
		Buckets: seconds,
	})
	for i, kind := range kinds {
		m.opened[i] = opened.WithLabelValues(kind)
	}
	m.registry = prometheus.NewRegistry()
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), opened, m.firstByte, m)
	m.Handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return m
}

// Exchange counts a client request that is over.
func (m *Metrics) Exchange(x *eventlog.Exchange) {
	if m == nil {
		return
	}
	kind := kindOf(x.Kind)
	m.exchanges[kind][statusIndex(x.Status)].Add(1)
	if x.Opened > 0 {
		m.opened[kind].Observe(x.Opened.Seconds())
	}
	for i := range x.Attempts {
		if x.Attempts[i].Signal == pool.FirstByte {
			m.firstByte.Observe(x.Attempts[i].Took.Seconds())
		}
	}
	m.up.Add(uint64(max(x.Up, 0)))
	m.down.Add(uint64(max(x.Down, 0)))
}

// Event counts the changes of state that an event brought.
func (m *Metrics) Event(ev pool.Event) {
	if m == nil {
		return
	}
	of := &m.transitions[0]
	if ev.Segment != "" {
		of = &m.transitions[1]
	}
	for t := range ev.Effect.Transitions {
		of[t.From][t.To][t.Rule].Add(1)
	}
}

// Reload counts a reload of the proxy lists.
func (m *Metrics) Reload(worked bool, now time.Time) {
	switch {
	case m == nil:
	case worked:
		m.reloads[0].Add(1)
		m.reloadedAt.Store(now.UnixNano())
	default:
		m.reloads[1].Add(1)
	}
}
