package breaker_test

import (
	"testing"
	"time"

	"swivel/breaker"
)

func TestFiveFailuresInARowOpen(t *testing.T) {
	k := newProven(t, plain())
	for range 4 {
		k.wantChanged(k.attempt(breaker.Failure), true)
		k.wait(time.Second)
	}
	e := k.attempt(breaker.Failure)
	k.wantMove(e, breaker.Closed, breaker.Open, breaker.RuleRun)
	if tr := e.Transition; !tr.At.Equal(k.now) || !tr.Until.Equal(k.now.Add(30*time.Second)) || tr.Failures != 5 {
		t.Errorf("transition %+v: want it at %v for 30s with 5 failures", tr, k.now)
	}
	k.wantRest(30 * time.Second)
}

func TestSuccessBetweenFailuresStartsTheRunAgain(t *testing.T) {
	s := plain()
	s.ErrorRatio = 1
	k := newProven(t, s)
	for range 10 {
		for range 4 {
			k.attempt(breaker.Failure)
		}
		k.wantChanged(k.attempt(breaker.Success), true)
	}
	k.wantState(breaker.Closed)
}

func TestOnlyTheFirstSuccessOfACleanBreakerIsWorthStoring(t *testing.T) {
	k := newRig(t, plain())
	k.wantChanged(k.attempt(breaker.Success), true)
	k.wantChanged(k.attempt(breaker.Success), false)
}

func TestFailuresOlderThanTheWindowLeaveTheRun(t *testing.T) {
	k := newProven(t, plain())
	k.attempt(breaker.Failure)
	k.wait(time.Hour + 1)
	for range 4 {
		k.attempt(breaker.Failure)
	}
	k.wantState(breaker.Closed)
	k.attempt(breaker.Failure)
	k.wantState(breaker.Open)
}

func TestRareFailuresWithinTheWindowOpenARarelyUsedProxy(t *testing.T) {
	k := newProven(t, plain())
	for range 5 {
		k.attempt(breaker.Failure)
		k.wait(15 * time.Minute)
	}
	if got := k.b.Snapshot(k.now).State; got != breaker.Open {
		t.Errorf("state %v after a run of exactly one hour, want open", got)
	}
}

func TestClientsThatLeaveDoNotOpen(t *testing.T) {
	k := newRig(t, plain())
	for range 100 {
		k.wantChanged(k.attempt(breaker.Ignored), false)
	}
	k.wantState(breaker.Closed)
}

func TestIgnoredResultDoesNotInterruptARun(t *testing.T) {
	k := newProven(t, plain())
	for range 4 {
		k.attempt(breaker.Failure)
	}
	k.attempt(breaker.Ignored)
	k.attempt(breaker.Failure)
	k.wantState(breaker.Open)
}

func TestUnknownOutcomeChangesNothing(t *testing.T) {
	k := newRig(t, plain())
	k.wantChanged(k.attempt(breaker.Outcome(99)), false)
}

func TestSuspicionsInARowCountAsARun(t *testing.T) {
	k := newRig(t, plain())
	for range 4 {
		k.wantChanged(k.suspect(), true)
	}
	e := k.suspect()
	k.wantMove(e, breaker.Closed, breaker.Open, breaker.RuleRun)
	if tr := e.Transition; tr.Suspicions != 5 || tr.Failures != 0 {
		t.Errorf("transition %+v, want 5 suspicions and no failures", tr)
	}
	k.wantRest(30 * time.Second)
}

func TestSuspicionsDoNotMakeUpForMissingFailures(t *testing.T) {
	k := newProven(t, plain())
	for range 4 {
		k.attempt(breaker.Failure)
		k.suspect()
	}
	k.wantState(breaker.Closed)
	k.suspect() // a failure in between has not reset them
	k.wantState(breaker.Open)
}

func TestSuccessClearsSuspicionsToo(t *testing.T) {
	k := newRig(t, plain())
	for range 4 {
		k.suspect()
	}
	k.wantChanged(k.attempt(breaker.Success), true)
	for range 4 {
		k.suspect()
	}
	k.wantState(breaker.Closed)
}

func TestRunIsForgottenOnceRecovered(t *testing.T) {
	k, p := halfOpen(t, plain())
	k.report(p, breaker.Success)
	k.attempt(breaker.Success)
	k.wantState(breaker.Closed)
	for range 4 {
		k.attempt(breaker.Failure)
		k.suspect()
	}
	k.wantState(breaker.Closed)
}
