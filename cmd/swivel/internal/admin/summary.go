package admin

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/traffic"
	"swivel/pool"
	"swivel/storage"
)

// Status is how the daemon does, beside its pool.
type Status struct {
	Started          time.Time
	Connections      int
	ConnectionsLimit int
	RetryBudget      float64 // retries that may be made at once
	Journal          storage.Stats
	ErrorRatio       float64       // of attempts, at which a breaker opens
	LatencyLimit     time.Duration // likewise; 0: none
}

// Summary says in JSON how the whole of it does.
type Summary struct {
	At        float64        `json:"at"`      // unix seconds, as all times
	Started   float64        `json:"started"` // the daemon
	Proxies   int            `json:"proxies"`
	States    map[string]int `json:"states"` // proxies by the first that fits: paused, open, half_open, drained, closed
	Weight    float64        `json:"weight"` // of all
	Effective float64        `json:"effective_weight"`
	Picks     uint64         `json:"picks"`
	InFlight  int            `json:"in_flight"`
	// Segments are proxies by provider, region and protocol, the largest first,
	// 1,000 at most; "": those that are in none, or in a smaller one.
	Segments   []Segment `json:"segments"`
	LastMinute Span      `json:"last_minute"`

	Connections      int     `json:"connections"`
	ConnectionsLimit int     `json:"connections_limit"`
	Sessions         int     `json:"sessions"`
	RetryBudget      float64 `json:"retry_budget"`
	LocalOutage      bool    `json:"local_outage"`
	RetryAfter       float64 `json:"retry_after_s"` // until a proxy can be picked; 0: now
	ErrorRatio       float64 `json:"error_ratio_limit"`
	LatencyLimitMS   float64 `json:"latency_limit_ms"` // 0: none
	Journal          Journal `json:"journal"`
}

// Segment is a part of the pool.
type Segment struct {
	Name      string         `json:"name"`
	Proxies   int            `json:"proxies"`
	States    map[string]int `json:"states"`
	Weight    float64        `json:"weight"`
	Effective float64        `json:"effective_weight"`
	Picks     uint64         `json:"picks"`
	// State is that of the segment's own breaker, when segments are on.
	State        string   `json:"state,omitempty"`
	NextTestTime *float64 `json:"next_test_time,omitempty"`
}

// Span is what happened in some time.
type Span struct {
	At             float64  `json:"at"`
	Seconds        float64  `json:"seconds"`
	Served         int      `json:"served"`
	Failed         int      `json:"failed"`  // answered with 502, 503 or 504
	Refused        int      `json:"refused"` // not acceptable, or the client left
	SuccessRatio   *float64 `json:"success_ratio"`
	Up             int64    `json:"up"` // bytes of content
	Down           int64    `json:"down"`
	P50            float64  `json:"p50_ms"` // until a tunnel or a response was there; 0: none was
	P95            float64  `json:"p95_ms"`
	P99            float64  `json:"p99_ms"`
	Attempts       int      `json:"attempts"`
	AttemptsFailed int      `json:"attempts_failed"`
	Connections    int      `json:"connections"`
	Usable         float64  `json:"usable"` // share of the weights that could be picked
}

// Journal is how the database keeps up.
type Journal struct {
	Pending int     `json:"pending"`
	Lag     float64 `json:"lag_s"`
	Written uint64  `json:"written"`
	Failed  uint64  `json:"failed_writes"`
	Failing bool    `json:"failing"`
}

func (s *Server) summary(w http.ResponseWriter, _ *http.Request) {
	o := *s.operator.Load()
	now := time.Now()
	writeJSON(w, http.StatusOK, summarize(o.Pool(), o.Status(), o.Traffic(), now))
}

// history tells the last quarter of an hour in steps.
func (s *Server) history(w http.ResponseWriter, _ *http.Request) {
	all := (*s.operator.Load()).Traffic().History(time.Now())
	out := make([]Span, 0, len(all))
	for i := range all {
		out = append(out, toSpan(&all[i]))
	}
	writeJSON(w, http.StatusOK, out)
}

func summarize(p *pool.Pool, status Status, recent *traffic.Recorder, now time.Time) Summary {
	minute := recent.Last(time.Minute, now)
	out := Summary{
		At: unix(now), Started: unix(status.Started), LastMinute: toSpan(&minute),
		Connections: status.Connections, ConnectionsLimit: status.ConnectionsLimit, Sessions: p.Sessions(),
		RetryBudget: status.RetryBudget, LocalOutage: p.LocalOutage(), RetryAfter: p.RetryAfter(now).Seconds(),
		ErrorRatio: status.ErrorRatio, LatencyLimitMS: milliseconds(status.LatencyLimit),
		Journal: Journal{
			Pending: status.Journal.Pending, Lag: status.Journal.Lag.Seconds(), Written: status.Journal.Written,
			Failed: status.Journal.Failures, Failing: status.Journal.Incident != nil,
		},
	}
	var all Segment
	segments := map[string]*Segment{}
	for _, m := range p.Proxies() {
		in := segmentOf(segments, m, now)
		state, effective, picks := standing(m, now), m.EffectiveWeight(now), m.Picks()
		all.count(m, state, effective, picks)
		in.count(m, state, effective, picks)
		out.InFlight += m.InFlight()
	}
	out.Proxies, out.States, out.Weight, out.Effective, out.Picks = all.Proxies, all.States, all.Weight, all.Effective, all.Picks
	out.Segments = sorted(segments)
	return out
}

// mostSegments bounds the answer for a list in which every line is a segment.
const mostSegments = 1000

func segmentOf(segments map[string]*Segment, m *pool.Proxy, now time.Time) *Segment {
	name := pool.SegmentName(m.Spec)
	if segments[name] == nil && len(segments) >= mostSegments {
		name = ""
	}
	if segments[name] == nil {
		segments[name] = newSegment(name, m.SegmentBreaker(), now)
	}
	return segments[name]
}

func newSegment(name string, b *breaker.Breaker, now time.Time) *Segment {
	s := &Segment{Name: name}
	if b == nil || name == "" {
		return s
	}
	snap := b.Snapshot(now)
	s.State = snap.State.String()
	if snap.State != breaker.Closed {
		at := unix(snap.NextTest)
		s.NextTestTime = &at
	}
	return s
}

func (s *Segment) count(m *pool.Proxy, state string, effective float64, picks uint64) {
	if s.States == nil {
		s.States = map[string]int{}
	}
	s.Proxies++
	s.States[state]++
	s.Weight += m.Spec.Weight
	s.Effective += effective
	s.Picks += picks
}

func sorted(segments map[string]*Segment) []Segment {
	out := make([]Segment, 0, len(segments))
	for _, one := range segments {
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b Segment) int {
		return cmp.Or(cmp.Compare(b.Proxies, a.Proxies), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func toSpan(s *traffic.Span) Span {
	out := Span{
		At: unix(s.At), Seconds: s.Took.Seconds(), Served: s.Served, Failed: s.Failed, Refused: s.Refused, Up: s.Up, Down: s.Down,
		P50: milliseconds(s.P50), P95: milliseconds(s.P95), P99: milliseconds(s.P99),
		Attempts: s.Attempts, AttemptsFailed: s.AttemptsFailed, Connections: s.Connections, Usable: s.Usable,
	}
	if n := s.Served + s.Failed; n > 0 {
		r := float64(s.Served) / float64(n)
		out.SuccessRatio = &r
	}
	return out
}
