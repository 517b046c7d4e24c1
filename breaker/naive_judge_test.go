package breaker_test

import (
	"math"
	"slices"
	"time"

	"swivel/breaker"
)

// fail adds to the run. The failures before the newest so many leave it
// together with the first of those.
func (n *naive) fail(now time.Time) {
	if n.s.ConsecutiveFailures == 0 {
		return
	}
	if young := n.young(now); len(young) < len(newest(n.failures, n.s.ConsecutiveFailures)) {
		n.failures = young
	}
	n.failures = append(n.failures, now)
}

func (n *naive) judge(v breaker.Verdict, now time.Time) {
	rate, samples := n.rate(now)
	length := len(n.failures)
	if v.Suspected {
		length = n.suspicions
	}
	switch {
	case float64(length) >= n.runNeeded(now):
		n.trip(breaker.RuleRun, v, now)
	case !v.Suspected && n.neverWorks():
		n.trip(breaker.RuleRun, v, now)
	case !v.Suspected && samples >= n.s.MinSamples && rate >= n.s.ErrorRatio:
		n.trip(breaker.RuleRate, v, now)
	}
}

func (n *naive) judgePace(v breaker.Verdict, now time.Time) {
	if n.s.LatencyLimit == 0 || v.Latency == 0 {
		return
	}
	n.slow = append(n.slow, v.Latency > n.s.LatencyLimit)
	if l := len(n.slow); l%10 == 0 && l >= 20 &&
		slices.Contains(n.slow[l-10:], true) && slices.Contains(n.slow[l-20:l-10], true) {
		n.trip(breaker.RuleSlow, v, now)
	}
}

func (n *naive) trip(rule breaker.Rule, v breaker.Verdict, now time.Time) {
	if !v.Alone {
		n.opens++
	}
	n.openAt(now, n.growing(), rule)
}

func (n *naive) missed() {
	if !n.proven {
		n.misses++
	}
}

// neverWorks: three failures are enough of a proxy that has yet to succeed once.
func (n *naive) neverWorks() bool {
	return !n.proven && n.misses >= 3 && n.s.ConsecutiveFailures != 0
}

// runNeeded is the length from which on a run opens: the first whose chance is
// small enough.
func (n *naive) runNeeded(now time.Time) float64 {
	if n.s.ConsecutiveFailures == 0 {
		return math.Inf(1)
	}
	in := n.inWindow(n.outcomes, now)
	before := in[:max(0, len(in)-len(n.failures))]
	k := float64(n.s.ConsecutiveFailures)
	if len(before) < n.s.MinSamples {
		return k
	}
	total := float64(len(before))
	q := (float64(failuresOf(before)) + 1) / (total + 2)
	for total*math.Pow(q, k) > 0.001 {
		k++
	}
	return k
}
