package pool

import (
	"fmt"
	"time"

	"swivel/breaker"
	"swivel/pool/route"
)

// Inside TLS swivel sees bytes, and takes the first one for a success. Whether
// they were what the client came for only the client can tell, in a Report.

// Verdict is what a client found.
type Verdict uint8

// The verdicts.
const (
	ReportedOK      Verdict = iota // it was what the client came for: a success
	ReportedFailure                // it was not, and the proxy is to blame: a failure
	ReportedBanned                 // the target does not serve this proxy: a ban from it
	ReportedCaptcha                // likewise: the target wants to see a person
)

var verdictNames = []string{ReportedOK: "ok", ReportedFailure: "failure", ReportedBanned: "banned", ReportedCaptcha: "captcha"}

// String returns the verdict in lower case.
func (v Verdict) String() string {
	if int(v) >= len(verdictNames) {
		return "unknown"
	}
	return verdictNames[v]
}

// UnmarshalText is the inverse of String.
func (v *Verdict) UnmarshalText(text []byte) error {
	for i, name := range verdictNames {
		if name == string(text) {
			*v = Verdict(i)
			return nil
		}
	}
	return fmt.Errorf("want ok, failure, banned or captcha")
}

// Bans says whether the verdict is about the target and the proxy together.
func (v Verdict) Bans() bool { return v == ReportedBanned || v == ReportedCaptcha }

// Report is what a client says about an exchange that was served.
type Report struct {
	Proxy   *Proxy
	Target  string // host:port; needed for a ban only
	Verdict Verdict
	Rest    time.Duration // of a ban; 0: the usual time, and at most MaxOpenTimeout
	Request string        // the exchange, if it is known; for the log
}

// Report takes a client's word. It says until when the proxy is kept away from
// the target, if the word was a ban; else whether it counts: a proxy that rests
// is judged by its tests, and by nothing that was before.
func (p *Pool) Report(r Report, now time.Time) (until time.Time, counts bool, events []Event) {
	if r.Verdict.Bans() {
		return p.reportBan(r, now), true, nil
	}
	if r.Proxy.breaker.Load().Resting() {
		return time.Time{}, false, nil
	}
	permit, effect, ok := r.Proxy.breaker.Load().Acquire(now, leaseOfReport)
	ev := Event{Signal: Reported, Request: r.Request, began: now}
	p.note(r.Proxy, effect, ev, now, &events)
	if !ok {
		return time.Time{}, false, events
	}
	v := breaker.Verdict{Outcome: breaker.Success}
	if r.Verdict == ReportedFailure {
		v.Outcome = breaker.Failure
	}
	if permit.Probe() { // it has come to rest meanwhile
		v.Outcome = breaker.Ignored
	}
	outcome := p.settle(r.Proxy, permits{own: permit}, v, ev, now, &events)
	return time.Time{}, outcome == v.Outcome && outcome != breaker.Ignored, events
}

// leaseOfReport is for a permit that is reported at once.
const leaseOfReport = time.Second

func (p *Pool) reportBan(r Report, now time.Time) time.Time {
	rest := r.Rest
	if rest <= 0 {
		rest = p.options.BanRest
	}
	rest = min(rest, p.options.Breaker.MaxOpenTimeout)
	p.blameMu.Lock()
	defer p.blameMu.Unlock()
	p.ban(r.Proxy, keyOf(r.Target), r.Target, rest, now)
	return now.Add(rest)
}

// ServedBy returns the proxy by which an exchange was served lately, and its
// target; false if it was not, or so many were served since that it is forgotten,
// or the proxy has left the lists.
func (p *Pool) ServedBy(request string) (m *Proxy, target string, known bool) {
	one, known := p.served.find(request)
	if !known {
		return nil, "", false
	}
	m, known = p.Get(one.proxy)
	return m, one.target, known
}

// SessionProxy returns the proxy that a client's session has; false if it has
// none. It is no use of the session.
func (p *Pool) SessionProxy(client string, r route.Route, now time.Time) (*Proxy, bool) {
	return p.Get(p.sessions.peek(p.SessionID(client, r), now))
}
