package breaker_test

import (
	"testing"
	"time"

	"swivel/breaker"
)

// neverWorked returns a breaker whose proxy has failed so often, and never
// succeeded, hours apart: it is too rarely picked for a run.
func neverWorked(t *testing.T, s breaker.Settings, failures int) (k *rig, last breaker.Effect) {
	k = newRig(t, s)
	for range failures {
		k.wait(2 * time.Hour)
		last = k.attempt(breaker.Failure)
	}
	return k, last
}

func TestUnprovenProxyFadesOutOfReachAndIsNeverTested(t *testing.T) {
	k, e := neverWorked(t, plain(), 2)
	k.wantChanged(e, true)
	k.wait(2 * time.Hour)
	e = k.attempt(breaker.Failure)
	k.wantMove(e, breaker.Closed, breaker.Open, breaker.RuleRun)
	k.wantRest(30 * time.Second)
	k.wait(30 * time.Second)
	k.report(k.probe(), breaker.Failure)
	k.wantRest(time.Minute)
	k.wait(time.Minute)
	k.report(k.probe(), breaker.Success)
	k.report(k.probe(), breaker.Success)
	k.wantState(breaker.Closed)
	k.wait(30 * time.Second)
	k.wantFactor(1)
}

func TestUnprovenProxyThatRecoveredNeedsFiveFailuresLikeAnyOther(t *testing.T) {
	k, _ := neverWorked(t, plain(), 3)
	k.wait(30 * time.Second)
	k.report(k.probe(), breaker.Success)
	k.report(k.probe(), breaker.Success)
	for range 4 {
		k.wantChanged(k.attempt(breaker.Failure), true)
	}
	k.wantMove(k.attempt(breaker.Failure), breaker.Closed, breaker.Open, breaker.RuleRun)
}

func TestOneSuccessIsEnoughToNeedFiveFailures(t *testing.T) {
	k, _ := neverWorked(t, plain(), 2)
	k.attempt(breaker.Success)
	for range 4 {
		k.wantChanged(k.attempt(breaker.Failure), true)
	}
	k.wantMove(k.attempt(breaker.Failure), breaker.Closed, breaker.Open, breaker.RuleRun)
}

func TestUnprovenProxyOpensByAShorterRunToo(t *testing.T) {
	s := plain()
	s.ConsecutiveFailures = 2
	k := newRig(t, s)
	k.attempt(breaker.Failure)
	k.wantMove(k.attempt(breaker.Failure), breaker.Closed, breaker.Open, breaker.RuleRun)
}

func TestSuspicionsAreNoMissesOfAnUnprovenProxy(t *testing.T) {
	k, _ := neverWorked(t, plain(), 2)
	for range 4 {
		k.wantChanged(k.suspect(), true)
	}
	k.wantMove(k.attempt(breaker.Failure), breaker.Closed, breaker.Open, breaker.RuleRun)
}

func TestUnprovenProxyStaysClosedWhereRunsDoNotOpen(t *testing.T) {
	k, e := neverWorked(t, onlyRate(), 10)
	k.wantChanged(e, true)
	k.b = breaker.Restore(onlyRate(), k.b.Snapshot(k.now), nil, k.now)
	k.wantState(breaker.Closed)
	k.wantFactor(0.03)
}

func TestRestoredUnprovenProxyIsOutOfReachAndNeverTested(t *testing.T) {
	for _, misses := range []int{2, 3} {
		k, _ := neverWorked(t, onlyRate(), misses)
		k.restart(time.Hour) // by settings with runs
		due := misses == 3
		if k.b.Due(k.now) != due || !k.b.Ready(k.now) {
			t.Errorf("%d misses: due = %v, ready = %v, want %v and true", misses, !due, k.b.Ready(k.now), due)
		}
		if !due {
			k.wantState(breaker.Closed)
			continue
		}
		snap := k.b.Snapshot(k.now)
		if snap.Rule != breaker.RuleRun || !snap.NextTest.Equal(k.now) || !snap.LastChange.Equal(k.now) {
			t.Errorf("%+v, want it opened now by a run, and its rest over", snap)
		}
		k.report(k.probe(), breaker.Failure)
		k.wantRest(30 * time.Second)
		k.wait(30 * time.Second)
		k.report(k.probe(), breaker.Success)
		k.report(k.probe(), breaker.Success)
		k.wantState(breaker.Closed)
	}
}

func TestRestoredProxyThatHasWorkedIsNotTakenForHopeless(t *testing.T) {
	snap := breaker.Snapshot{Succeeded: true, Misses: 3}
	k := &rig{t: t, b: breaker.Restore(plain(), snap, nil, start), now: start}
	k.wantState(breaker.Closed)
	k.wantFactor(1)
}
