package breaker_test

import (
	"math"
	"time"

	"swivel/breaker"
)

// naive is the reference that the model test compares the breaker with. It is
// written to be read: times are times, permits are numbers in a set, transitions
// are a list, nothing is done lazily once somebody looks, and nothing is fast.
type naive struct {
	s      breaker.Settings
	random float64 // what every draw yields

	state      breaker.State
	rule       breaker.Rule
	changed    time.Time
	until      time.Time
	failures   []time.Time // all since the last success
	suspicions int
	opens      int
	wins       int
	slow       []bool // whether each measured success since it last closed was too slow
	naiveTrack
	shown naiveShown

	granted int          // number of the last permit
	counts  map[int]bool // the permits whose results count
	probe   *naiveProbe
	next    time.Time // half_open: before this no probe

	moves []naiveMove // that no call has told of yet
	dirty bool        // something to be stored has changed since the last call
}

type naiveProbe struct {
	id              int
	granted, expiry time.Time
}

type naiveMove struct {
	From, To  breaker.State
	Rule      breaker.Rule
	At, Until time.Time

	Failures, Suspicions int
	Rate                 float64
	Samples              int
}

func newNaive(s breaker.Settings, random float64) *naive {
	n := &naive{s: s, random: random, counts: map[int]bool{}}
	n.show(start)
	return n
}

// pass lets time do what it does.
func (n *naive) pass(now time.Time) {
	if n.probe != nil && !now.Before(n.probe.expiry) {
		n.opens++
		n.missed()
		n.openAt(n.probe.expiry, n.growing(), breaker.RuleProbe)
	}
	if n.state == breaker.Closed && !now.Before(n.changed.Add(n.s.Window)) {
		n.opens = 0
	}
}

func (n *naive) acquire(now time.Time, lease time.Duration) (id int, probe, ok bool) {
	n.pass(now)
	if n.state != breaker.Closed { // else nothing is published either
		defer func() { n.show(now) }()
	}
	switch n.state {
	case breaker.Open:
		if now.Before(n.until) {
			return 0, false, false
		}
		n.moveTo(breaker.HalfOpen, breaker.RuleDue, now)
		n.next = now
	case breaker.HalfOpen:
		if n.probe != nil || now.Before(n.next) {
			return 0, false, false
		}
	}
	n.granted++
	n.counts[n.granted] = true
	if n.state == breaker.HalfOpen {
		n.probe = &naiveProbe{id: n.granted, granted: now, expiry: now.Add(lease)}
	}
	return n.granted, n.probe != nil, true
}

func (n *naive) report(id int, v breaker.Verdict, now time.Time) (stale bool) {
	n.pass(now)
	defer func() { n.show(now) }()
	if !n.counts[id] {
		return true
	}
	if n.probe != nil {
		n.endProbe(v, now)
		delete(n.counts, id)
		return false
	}
	switch {
	case v.Outcome == breaker.Success:
		n.dirty = n.dirty || len(n.failures) > 0 || n.suspicions > 0 || !n.proven
		n.failures, n.suspicions, n.proven = nil, 0, true
		n.count(false, now)
		n.judgePace(v, now)
	case v.Outcome == breaker.Failure && v.Suspected:
		n.dirty = true
		n.suspicions++
	case v.Outcome == breaker.Failure:
		n.dirty = true
		n.missed()
		n.fail(now)
		n.count(true, now)
	case v.Outcome == breaker.Refused || v.Outcome == breaker.Throttled:
		n.askedFor(v.Outcome, v.Rest, now)
	}
	if v.Outcome == breaker.Failure {
		n.judge(v, now)
	}
	return false
}

func (n *naive) endProbe(v breaker.Verdict, now time.Time) {
	p := n.probe
	n.probe, n.next = nil, now
	switch v.Outcome {
	case breaker.Success:
		n.proven = true
		if n.s.LatencyLimit > 0 && v.Latency > n.s.LatencyLimit {
			n.trip(breaker.RuleProbe, v, now)
			return
		}
		n.dirty = true
		n.wins++
		if n.wins == n.s.ProbeSuccesses {
			n.recover(now)
		}
	case breaker.Failure:
		if v.Suspected {
			v.Alone = true // no longer rest than before
		} else {
			n.missed()
		}
		n.trip(breaker.RuleProbe, v, now)
	case breaker.Refused, breaker.Throttled:
		n.askedFor(v.Outcome, v.Rest, now)
	default:
		n.next = p.granted.Add(time.Second)
	}
}

func (n *naive) recover(now time.Time) {
	n.moveTo(breaker.Closed, breaker.RuleRecovered, now)
	n.rule, n.wins, n.until = breaker.RuleRecovered, 0, time.Time{}
	n.failures, n.suspicions, n.outcomes, n.slow = nil, 0, nil, nil
}

func (n *naive) askedFor(o breaker.Outcome, rest time.Duration, now time.Time) {
	if o == breaker.Refused {
		n.openAt(now, n.s.RefusedTimeout, breaker.RuleRefused)
	} else {
		n.openAt(now, min(rest, n.s.MaxOpenTimeout), breaker.RuleThrottled)
	}
}

// growing is the rest after n.opens opens in a row.
func (n *naive) growing() time.Duration {
	times := math.Pow(2, float64(max(n.opens, 1)-1))
	return time.Duration(min(float64(n.s.OpenTimeout)*times, float64(n.s.MaxOpenTimeout)))
}

func (n *naive) jittered(rest time.Duration) time.Duration {
	return time.Duration(float64(rest) * (1 + n.s.Jitter*n.random))
}

func (n *naive) openAt(at time.Time, rest time.Duration, rule breaker.Rule) {
	n.until, n.rule, n.wins, n.probe = at.Add(n.jittered(rest)), rule, 0, nil
	n.moveTo(breaker.Open, rule, at)
}

func (n *naive) moveTo(to breaker.State, rule breaker.Rule, at time.Time) {
	m := naiveMove{From: n.state, To: to, Rule: rule, At: at, Failures: len(n.failures), Suspicions: n.suspicions}
	m.Rate, m.Samples = n.rate(at)
	if to == breaker.Open {
		m.Until = n.until
	}
	n.moves = append(n.moves, m)
	n.state, n.changed, n.counts, n.dirty = to, at, map[int]bool{}, true
}

// young are the failures that are not too old to count.
func (n *naive) young(now time.Time) []time.Time {
	var young []time.Time
	for _, t := range newest(n.failures, n.s.ConsecutiveFailures) {
		if now.Sub(t) <= n.s.RunWindow {
			young = append(young, t)
		}
	}
	return young
}

func (n *naive) wait(now time.Time) time.Duration {
	until := now
	switch {
	case n.state == breaker.Open:
		until = n.until
	case n.probe != nil:
		until = n.probe.expiry
	case n.state == breaker.HalfOpen:
		until = n.next
	}
	return max(0, until.Sub(now))
}

// restart is what a new process makes of the state that the old one stored,
// with the settings it has now.
func (n *naive) restart(s breaker.Settings, stored, now time.Time) {
	n.pass(stored)
	n.failures = n.young(stored)
	n.s = s
	n.counts, n.moves, n.dirty = map[int]bool{}, nil, false
	n.changed = earlier(n.changed, now)
	for i, t := range n.failures {
		n.failures[i] = earlier(t, now)
	}
	n.failures = n.young(now)
	n.slow = nil
	n.restartWindow(stored, now)
	defer func() { n.show(now) }()
	if n.state == breaker.Closed {
		longest := max(0, n.s.ConsecutiveFailures-1)
		n.failures, n.suspicions = newest(n.failures, longest), min(n.suspicions, longest)
		if n.neverWorks() {
			n.state, n.rule, n.changed, n.until = breaker.Open, breaker.RuleRun, now, now
		}
		return
	}
	n.suspicions = min(n.suspicions, n.s.ConsecutiveFailures)
	if n.state == breaker.HalfOpen {
		n.state, n.probe, n.until = breaker.Open, nil, earlier(n.until, now)
	}
	longest := n.s.MaxOpenTimeout
	if n.rule == breaker.RuleRefused {
		longest = max(longest, n.s.RefusedTimeout)
	}
	if n.until.Sub(now) > time.Duration(float64(longest)*(1+n.s.Jitter)) {
		n.until = now.Add(n.jittered(longest))
	}
}

func (n *naive) snapshot(now time.Time) breaker.Snapshot {
	return breaker.Snapshot{
		State: n.state, Failures: n.young(now), Suspicions: n.suspicions, OpensInRow: n.opens,
		Rule: n.rule, NextTest: n.until, LastChange: n.changed, ProbeWins: n.wins,
		Window: n.tallies(now), Recent: n.recent(), Succeeded: n.proven, Misses: n.storedMisses(),
	}
}

func (n *naive) storedMisses() int {
	if n.proven {
		return 0
	}
	return min(n.misses, 3)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
