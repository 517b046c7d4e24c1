package breaker_test

import (
	"testing"
	"time"

	"swivel/breaker"
)

// start is a wall-clock time without a monotonic reading, so that every run of
// the tests is the same.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const lease = 10 * time.Second

// rig is a breaker under test: it holds the clock and fails the test when
// a step does not go as the test says it must.
type rig struct {
	t   *testing.T
	b   *breaker.Breaker
	now time.Time
}

// plain are the defaults without jitter, so that rests are exact.
func plain() breaker.Settings {
	s := breaker.DefaultSettings()
	s.Jitter = 0
	return s
}

func newRig(t *testing.T, s breaker.Settings) *rig {
	return &rig{t: t, b: breaker.New(s, nil), now: start}
}

// newProven returns a breaker whose proxy has succeeded once, and may fail five
// times.
func newProven(t *testing.T, s breaker.Settings) *rig {
	k := newRig(t, s)
	k.attempt(breaker.Success)
	return k
}

// opened returns a breaker that has just opened by a run of failures.
func opened(t *testing.T, s breaker.Settings) *rig {
	k := newProven(t, s)
	for range s.ConsecutiveFailures {
		k.attempt(breaker.Failure)
	}
	k.wantState(breaker.Open)
	return k
}

// halfOpen returns a breaker with its first probe in flight.
func halfOpen(t *testing.T, s breaker.Settings) (*rig, breaker.Permit) {
	k := opened(t, s)
	k.wait(k.b.RetryAfter(k.now))
	return k, k.probe()
}

func (k *rig) wait(d time.Duration) { k.now = k.now.Add(d) }

func (k *rig) acquire() breaker.Permit {
	k.t.Helper()
	p, _, ok := k.b.Acquire(k.now, lease)
	if !ok {
		k.t.Fatalf("Acquire at +%v: refused", k.now.Sub(start))
	}
	return p
}

func (k *rig) probe() breaker.Permit {
	k.t.Helper()
	p := k.acquire()
	if !p.Probe() {
		k.t.Fatalf("Acquire at +%v: the permit is no probe", k.now.Sub(start))
	}
	return p
}

func (k *rig) wantRefused() {
	k.t.Helper()
	if _, _, ok := k.b.Acquire(k.now, lease); ok {
		k.t.Fatalf("Acquire at +%v: granted, want a refusal", k.now.Sub(start))
	}
}

func (k *rig) report(p breaker.Permit, o breaker.Outcome) breaker.Effect {
	return k.b.Report(p, breaker.Verdict{Outcome: o}, k.now)
}

// attempt is a whole one: acquired, and reported at once.
func (k *rig) attempt(o breaker.Outcome) breaker.Effect {
	k.t.Helper()
	return k.report(k.acquire(), o)
}

// suspected is the report of an attempt that stayed in doubt.
var suspected = breaker.Verdict{Outcome: breaker.Failure, Suspected: true}

func (k *rig) suspect() breaker.Effect {
	k.t.Helper()
	return k.b.Report(k.acquire(), suspected, k.now)
}

func (k *rig) wantState(want breaker.State) {
	k.t.Helper()
	if got := k.b.State(k.now); got != want {
		k.t.Fatalf("State at +%v = %v, want %v", k.now.Sub(start), got, want)
	}
}

// wantRest checks how long the breaker is going to refuse, from both sides.
func (k *rig) wantRest(want time.Duration) {
	k.t.Helper()
	if got := k.b.RetryAfter(k.now); got != want {
		k.t.Fatalf("RetryAfter at +%v = %v, want %v", k.now.Sub(start), got, want)
	}
	if want > 0 {
		k.wait(want - 1)
		k.wantRefused()
		k.wait(1 - want)
	}
}

func (k *rig) wantMove(e breaker.Effect, from, to breaker.State, rule breaker.Rule) {
	k.t.Helper()
	tr := e.Transition
	if !e.Moved || !e.Changed || tr.From != from || tr.To != to || tr.Rule != rule {
		k.t.Fatalf("effect %+v, want a move %v -> %v by %v", e, from, to, rule)
	}
}

func (k *rig) wantChanged(e breaker.Effect, want bool) {
	k.t.Helper()
	if e.Changed != want || e.Moved || e.Stale {
		k.t.Fatalf("effect %+v, want changed %v and nothing else", e, want)
	}
}

func (k *rig) wantStale(e breaker.Effect) {
	k.t.Helper()
	if !e.Stale || e.Changed || e.Moved {
		k.t.Fatalf("effect %+v, want stale and nothing else", e)
	}
}
