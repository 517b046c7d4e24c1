package admin

import (
	"net/http"
	"strings"
	"time"

	"swivel/breaker"
	"swivel/pool"
)

// Proxy is a member of the pool in JSON. It holds no credential, and no address
// of a proxy that has a name.
type Proxy struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	State        string   `json:"state"`
	Cause        string   `json:"cause,omitempty"`
	NextTestTime *float64 `json:"next_test_time,omitempty"` // unix seconds; in the past: due
	Weight       float64  `json:"weight"`
	// EffectiveWeight is what the pick uses now: less while a proxy is new to
	// its work again or flaky, 0 while it is not in use.
	EffectiveWeight float64 `json:"effective_weight"`
	InFlight        int     `json:"in_flight"`
	// Overdue: it is not picked, because too many of its attempts have no answer
	// yet, until one of them is decided.
	Overdue     bool    `json:"overdue,omitempty"`
	Paused      bool    `json:"paused"`
	Drained     bool    `json:"drained"` // by an operator, or by a weight of 0
	PauseReason string  `json:"pause_reason,omitempty"`
	PausedBy    string  `json:"paused_by,omitempty"`
	PausedAt    float64 `json:"paused_at,omitempty"` // unix seconds
	// SuccessRatio is of the outcomes in the breaker's window, or of the last
	// five; null while there are none.
	SuccessRatio *float64 `json:"success_ratio"`
	// LatencyMS is the usual time to a target's first byte, null while unknown.
	LatencyMS *float64 `json:"latency_ms"`
	Picks     uint64   `json:"picks"` // since the daemon started
	Protocol  string   `json:"protocol"`
	Segment   string   `json:"segment,omitempty"`
	Provider  string   `json:"provider,omitempty"`
	Region    string   `json:"region,omitempty"`
	Country   string   `json:"country,omitempty"`
	City      string   `json:"city,omitempty"`
	Tags      []string `json:"tags,omitempty"`
}

func describe(m *pool.Proxy, now time.Time) Proxy {
	snap := m.Breaker().Snapshot(now)
	p := Proxy{
		ID: string(m.ID), Name: m.Spec.Label(), State: snap.State.String(), Weight: m.Spec.Weight, EffectiveWeight: m.EffectiveWeight(now),
		InFlight: m.InFlight(), Overdue: m.Overdue(), Drained: m.Spec.Weight == 0, SuccessRatio: ratio(snap), Picks: m.Picks(),
		Protocol: m.Spec.Scheme.String(), Segment: pool.SegmentName(m.Spec), Provider: m.Spec.Provider, Region: m.Spec.Region,
		Country: m.Spec.Country, City: m.Spec.City, Tags: m.Spec.Tags,
	}
	if snap.State != breaker.Closed {
		p.Cause = snap.Rule.String()
		at := unix(snap.NextTest)
		p.NextTestTime = &at
	}
	if pause := m.Paused(); pause != nil {
		p.Paused, p.Drained, p.PauseReason, p.PausedBy, p.PausedAt = !pause.Drain, pause.Drain, pause.Reason, pause.By, unix(pause.At)
	}
	if took := m.Latency(); took > 0 {
		ms := milliseconds(took)
		p.LatencyMS = &ms
	}
	return p
}

// ratio is the share of successes among the outcomes that are remembered, nil of
// none.
func ratio(snap breaker.Snapshot) *float64 {
	successes, total := 0, 0
	for _, t := range snap.Window {
		successes, total = successes+t.Successes, total+t.Successes+t.Failures
	}
	if total == 0 {
		successes, total = strings.Count(snap.Recent, "+"), len(snap.Recent)
	}
	if total == 0 {
		return nil
	}
	r := float64(successes) / float64(total)
	return &r
}

// unix is a time in unix seconds, to the millisecond.
func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (s *Server) proxy(w http.ResponseWriter, r *http.Request) {
	m, ok := s.pool().Get(pool.ID(r.PathValue("id")))
	if !ok {
		refuse(w, http.StatusNotFound, "no proxy has that id")
		return
	}
	writeJSON(w, http.StatusOK, describe(m, time.Now()))
}
