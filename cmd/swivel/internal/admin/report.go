package admin

import (
	"fmt"
	"net/http"
	"time"

	"swivel/pool"
	"swivel/pool/route"
	"swivel/storage"
)

// report is what a client says about a request that was served. One of the first
// three says by whom.
type report struct {
	RequestID  string       `json:"request_id"`
	Session    string       `json:"session"` // the user name that the client gives, with its routing keys
	ProxyID    string       `json:"proxy_id"`
	Target     string       `json:"target"`
	Outcome    pool.Verdict `json:"outcome"`
	RetryAfter float64      `json:"retry_after_s"`
}

// Reported says in JSON what became of a report.
type Reported struct {
	ProxyID string `json:"proxy_id"`
	Target  string `json:"target,omitempty"`
	// Counted is false if the report says nothing that is not known: the proxy
	// rests already, and is judged by its tests.
	Counted     bool    `json:"counted"`
	BannedUntil float64 `json:"banned_until,omitempty"` // unix seconds
}

// maxRestS is a day and more, in seconds: what is longer is shortened anyway.
const maxRestS = 1e6

func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	body := report{Outcome: noVerdict}
	if !readBody(w, r, &body, `{"request_id": "6d0761316442b0f9", "outcome": "banned", "retry_after_s": 600}, where outcome is ok, banned, captcha or failure`) {
		return
	}
	now := time.Now()
	said, status, err := s.understand(&body, now)
	if err != nil {
		refuse(w, status, err.Error())
		return
	}
	if said.Verdict.Bans() && !s.audited(w, storage.Deed{At: now, Caller: caller(r, ""), Action: "ban", Subject: string(said.Proxy.ID), Input: deedInput(said)}) {
		return
	}
	until, counts := (*s.operator.Load()).Report(said)
	answer := Reported{ProxyID: string(said.Proxy.ID), Target: said.Target, Counted: counts}
	if !until.IsZero() {
		answer.BannedUntil = unix(until)
	}
	writeJSON(w, http.StatusOK, answer)
}

// deedInput is a ban for the audit log, whose lines are short.
func deedInput(r pool.Report) string {
	text := fmt.Sprintf("%s by %s", r.Verdict, r.Target)
	if r.Rest > 0 {
		text += " for " + r.Rest.Round(time.Second).String()
	}
	return text
}

// noVerdict is what a report has that does not say one.
const noVerdict = pool.Verdict(255)

// understand finds out whom a report is about.
func (s *Server) understand(b *report, now time.Time) (said pool.Report, status int, err error) {
	said = pool.Report{Verdict: b.Outcome, Request: b.RequestID}
	switch {
	case b.Outcome == noVerdict:
		return said, http.StatusBadRequest, fmt.Errorf("outcome: want ok, banned, captcha or failure")
	case !(b.RetryAfter >= 0 && b.RetryAfter <= maxRestS):
		return said, http.StatusBadRequest, fmt.Errorf("retry_after_s: want seconds, 0 or more")
	}
	said.Rest = time.Duration(b.RetryAfter * float64(time.Second))
	if b.Target != "" {
		if said.Target, err = route.Target(b.Target); err != nil || !sayable(said.Target) || len(said.Target) > maxTarget {
			return said, http.StatusBadRequest, fmt.Errorf("target: want host, host:port or a URL")
		}
	}
	if status, err = s.identify(b, &said, now); err != nil {
		return said, status, err
	}
	if said.Verdict.Bans() && said.Target == "" {
		return said, http.StatusBadRequest, fmt.Errorf("target: want the one that does not serve this proxy, as host or host:port")
	}
	return said, http.StatusOK, nil
}

// maxTarget is a host name at its longest, and a port.
const maxTarget = 262

// identify finds the proxy.
func (s *Server) identify(b *report, said *pool.Report, now time.Time) (status int, err error) {
	known := false
	switch {
	case b.RequestID != "" && b.Session == "" && b.ProxyID == "":
		target := ""
		if said.Proxy, target, known = s.pool().ServedBy(b.RequestID); known {
			said.Target = target
		}
	case b.Session != "" && b.RequestID == "" && b.ProxyID == "":
		name, keys, err := (*s.operator.Load()).ParseUser(b.Session)
		if err != nil {
			return http.StatusBadRequest, fmt.Errorf("session: %w", err)
		}
		said.Proxy, known = s.pool().SessionProxy(name, keys, now)
	case b.ProxyID != "" && b.RequestID == "" && b.Session == "":
		said.Proxy, known = s.pool().Get(pool.ID(b.ProxyID))
	default:
		return http.StatusBadRequest, fmt.Errorf("want one of request_id, session (the user name with its routing keys) and proxy_id")
	}
	if !known {
		return http.StatusNotFound, fmt.Errorf("no proxy that is in the pool is known to have served that")
	}
	return 0, nil
}
