package admin

import (
	"net/http"
	"time"

	"swivel/cmd/swivel/internal/fleet"
)

// Fleet says in JSON how the daemon stands in its fleet.
type Fleet struct {
	Enabled     bool    `json:"enabled"` // false: there is no fleet, and nothing below is known
	Up          bool    `json:"up"`      // the server answers
	Alone       bool    `json:"alone"`   // proxies are tested without leases
	Instances   int     `json:"instances"`
	Answered    float64 `json:"answered"` // unix seconds; 0: never
	CallMS      float64 `json:"call_ms"`  // the last call
	BehindS     float64 `json:"behind_s"` // this machine's clock, of the server's
	Leases      int     `json:"leases"`
	Pending     int     `json:"pending"`           // proxies and more to be told
	LagS        float64 `json:"lag_s"`             // how long the first of them has been waiting
	Problem     string  `json:"problem,omitempty"` // why the last call failed
	Calls       uint64  `json:"calls"`
	FailedCalls uint64  `json:"failed_calls"`
	Told        uint64  `json:"told"`   // times that others were told of a proxy
	Learnt      uint64  `json:"learnt"` // and that something was learnt of one
}

func toFleet(s fleet.Status, enabled bool) Fleet {
	answered := 0.0
	if !s.Answered.IsZero() {
		answered = unix(s.Answered)
	}
	return Fleet{
		Enabled: enabled, Up: s.Up, Alone: s.Alone, Instances: s.Instances, Answered: answered,
		CallMS: float64(s.Took) / float64(time.Millisecond), BehindS: s.Behind.Seconds(), Leases: s.Leases,
		Pending: s.Pending, LagS: s.Lag.Seconds(), Problem: s.Problem, Calls: s.Calls, FailedCalls: s.Failures, Told: s.Told, Learnt: s.Learnt,
	}
}

// fleet tells how the daemon stands in its fleet.
func (s *Server) fleet(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, toFleet((*s.operator.Load()).Fleet()))
}
