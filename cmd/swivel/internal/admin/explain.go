package admin

import (
	"net/http"
	"strconv"
	"time"

	"swivel/breaker"
	"swivel/pool"
	"swivel/pool/route"
)

// Explanation says in JSON who would serve a request that came now, and who
// would not and why.
type Explanation struct {
	Target string `json:"target"`
	// Refused is why no proxy is asked at all: the status and the error code that
	// clients get.
	Refused string `json:"refused,omitempty"`
	Route   string `json:"route,omitempty"` // the routing keys, as country=us;session=a
	// TargetRest is for how many seconds the target is still left alone because
	// it is down.
	TargetRest  float64 `json:"target_rest_s,omitempty"`
	LocalOutage bool    `json:"local_outage,omitempty"`
	// SessionProxy is the id of the proxy that the session has.
	SessionProxy string  `json:"session_proxy,omitempty"`
	RetryAfter   float64 `json:"retry_after_s"` // until somebody may be picked; 0: now, or stuck
	// Stuck: nobody may be picked, and time alone does not change that.
	Stuck bool `json:"stuck,omitempty"`
	// Lacking are the routing keys that no proxy meets.
	Lacking []string `json:"lacking,omitempty"`
	// Counts are the members by what becomes of them: in_use, or why they are
	// passed over.
	Counts  map[string]int `json:"counts"`
	Proxies []Chance       `json:"proxies"` // the likeliest first, at most as many as were asked for
}

// Chance is what a proxy has to do with the request.
type Chance struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Skip   string  `json:"skip"`              // in_use, or why it is passed over
	Cause  string  `json:"cause,omitempty"`   // of an open breaker or a pause
	Weight float64 `json:"weight"`            // what it is picked by now
	Share  float64 `json:"share"`             // of the picks, 0 to 1
	After  float64 `json:"after_s,omitempty"` // until that may be over, if time is all it takes
	// Misses are the routing keys that it does not meet.
	Misses []string `json:"misses,omitempty"`
}

// Explain says who would serve the request; at most limit proxies are listed.
func Explain(p *pool.Pool, r pool.Request, limit int, now time.Time) Explanation {
	e := p.Explain(r, now)
	out := Explanation{
		Target: r.Target, Route: r.Route.String(), TargetRest: e.TargetRest.Seconds(), LocalOutage: e.LocalOutage,
		SessionProxy: string(e.Home), RetryAfter: e.RetryAfter.Seconds(), Stuck: e.Stuck, Lacking: e.Lacking,
		Counts: map[string]int{}, Proxies: []Chance{},
	}
	for i, c := range e.Chances {
		out.Counts[c.Skip.String()]++
		if i < limit {
			out.Proxies = append(out.Proxies, toChance(c, now))
		}
	}
	return out
}

func toChance(c pool.Chance, now time.Time) Chance {
	out := Chance{ID: string(c.Proxy.ID), Name: c.Proxy.Spec.Label(), Skip: c.Skip.String(),
		Weight: c.Weight, Share: c.Share, After: c.After.Seconds(), Misses: c.Misses}
	switch pause := c.Proxy.Paused(); {
	case (c.Skip == pool.Paused || c.Skip == pool.Drained) && pause != nil:
		out.Cause = pause.Reason
	case c.Skip == pool.Open:
		if snap := c.Proxy.Breaker().Snapshot(now); snap.Rule != breaker.RuleNone {
			out.Cause = snap.Rule.String()
		}
	}
	return out
}

// explainLimit is how many proxies are listed unless the client says.
const explainLimit = 100

func (s *Server) explain(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	target, err := route.Target(q.Get("target"))
	if err != nil {
		refuse(w, http.StatusBadRequest, "target: "+err.Error())
		return
	}
	limit := explainLimit
	if text := q.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 0 {
			refuse(w, http.StatusBadRequest, "limit: want how many proxies to list, 0 or more")
			return
		}
	}
	name, keys, err := (*s.operator.Load()).ParseUser(q.Get("user"))
	if err != nil {
		refuse(w, http.StatusBadRequest, "user: "+err.Error())
		return
	}
	e := Explain(s.pool(), pool.Request{Target: target, Client: name, Route: keys}, limit, time.Now())
	e.Refused = (*s.operator.Load()).Refused(target)
	writeJSON(w, http.StatusOK, e)
}
