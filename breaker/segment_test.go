package breaker_test

import (
	"testing"
	"time"

	"swivel/breaker"
)

func TestSegmentOpensByTheShareOfItsLastOutcomesHoweverOld(t *testing.T) {
	k := newRig(t, plain().Segment())
	for range 21 {
		k.attempt(breaker.Success)
		k.wait(time.Hour)
	}
	for range 8 {
		k.attempt(breaker.Failure)
		k.wait(time.Hour)
	}
	k.wantState(breaker.Closed)
	e := k.attempt(breaker.Failure)
	k.wantMove(e, breaker.Closed, breaker.Open, breaker.RuleRate)
	if tr := e.Transition; tr.Rate != 0.3 || tr.Samples != 30 {
		t.Errorf("transition %+v, want 0.3 of 30", tr)
	}
}

func TestOldFailuresOfASegmentArePushedOut(t *testing.T) {
	k := newRig(t, plain().Segment())
	k.attempt(breaker.Failure)
	k.attempt(breaker.Failure)
	for range 30 {
		k.attempt(breaker.Success)
	}
	for range 8 {
		k.attempt(breaker.Failure)
	}
	k.wantState(breaker.Closed)
}

func TestSegmentIsNotJudgedByFewOutcomes(t *testing.T) {
	k := newRig(t, plain().Segment())
	for range 9 {
		k.attempt(breaker.Failure)
	}
	k.wantState(breaker.Closed)
	k.wantMove(k.attempt(breaker.Failure), breaker.Closed, breaker.Open, breaker.RuleRate)
}

func TestSegmentClosesAfterThreeProbesThatWereFastEnough(t *testing.T) {
	s := plain().Segment()
	s.LatencyLimit = time.Second
	k := newRig(t, s)
	for range 10 {
		k.attempt(breaker.Failure)
	}
	k.wait(30 * time.Second)
	k.took(time.Second)
	k.took(time.Second)
	k.wantMove(k.took(time.Second+1), breaker.HalfOpen, breaker.Open, breaker.RuleProbe)
	k.wait(60 * time.Second)
	for range 2 {
		k.took(time.Second)
		k.wantState(breaker.HalfOpen)
	}
	k.wantMove(k.took(time.Second), breaker.HalfOpen, breaker.Closed, breaker.RuleRecovered)
}

func TestRestoredSegmentKeepsItsLastOutcomes(t *testing.T) {
	s := plain().Segment()
	k := newRig(t, s)
	for range 21 {
		k.attempt(breaker.Success)
	}
	for range 8 {
		k.attempt(breaker.Failure)
	}
	snap := k.b.Snapshot(k.now)
	if len(snap.Recent) != 29 || snap.Window != nil {
		t.Errorf("snapshot %+v, want 29 outcomes and no parts of a window of time", snap)
	}
	k.wait(24 * time.Hour)
	k.b = breaker.Restore(s, snap, nil, k.now)
	k.wantMove(k.attempt(breaker.Failure), breaker.Closed, breaker.Open, breaker.RuleRate)
}
