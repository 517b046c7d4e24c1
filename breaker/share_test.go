package breaker_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"swivel/breaker"
)

// seen are failures that others saw, so many seconds before now, and no success.
func (k *rig) seen(ago ...int) breaker.Others {
	var o breaker.Others
	for _, s := range ago {
		o.Failures = append(o.Failures, k.now.Add(-time.Duration(s)*time.Second))
	}
	return o
}

func (k *rig) learn(o breaker.Others) breaker.Effect { return k.b.Learn(o, false, k.now) }

func TestFailuresOfOthersMakeARunTogetherWithOwn(t *testing.T) {
	k := newProven(t, plain())
	k.wait(10 * time.Second)
	k.attempt(breaker.Failure)
	k.attempt(breaker.Failure)
	o := k.seen(2, 1)
	for range 3 { // however often it is told
		if e := k.learn(o); e.Moved {
			t.Fatalf("opened after four failures: %+v", e)
		}
	}
	k.wantMove(k.attempt(breaker.Failure), breaker.Closed, breaker.Open, breaker.RuleRun)
}

func TestFailureElsewhereOpens(t *testing.T) {
	k := newProven(t, plain())
	k.wait(10 * time.Second)
	k.attempt(breaker.Failure)
	k.learn(k.seen(5, 4, 3))
	k.wantMove(k.learn(k.seen(5, 4, 3, 2)), breaker.Closed, breaker.Open, breaker.RuleRun)
}

func TestSuccessElsewhereEndsARun(t *testing.T) {
	k := newProven(t, plain())
	k.wait(10 * time.Second)
	for range 4 {
		k.attempt(breaker.Failure)
	}
	k.wait(time.Second)
	k.wantChanged(k.learn(breaker.Others{LastSuccess: k.now}), true)
	k.wait(time.Second)
	for range 4 {
		k.attempt(breaker.Failure)
	}
	k.wantState(breaker.Closed)
}

func TestOwnSuccessEndsTheRunOfOthers(t *testing.T) {
	k := newProven(t, plain())
	k.wait(10 * time.Second)
	o := k.seen(4, 3, 2, 1)
	k.learn(o)
	k.wantChanged(k.attempt(breaker.Success), true)
	k.learn(o) // they do not know of the success yet
	k.attempt(breaker.Failure)
	k.wantState(breaker.Closed)
}

func TestMissesOfOthersCountForAProxyThatNeverWorked(t *testing.T) {
	k := newRig(t, plain())
	k.attempt(breaker.Failure)
	k.learn(k.seen(1))
	k.wantState(breaker.Closed)
	k.wantMove(k.learn(k.seen(1, 0)), breaker.Closed, breaker.Open, breaker.RuleRun)

	k = newRig(t, plain())
	k.attempt(breaker.Failure)
	o := k.seen(1, 0)
	o.Succeeded = true
	k.learn(o)
	k.wantState(breaker.Closed)
}

func TestRateIsThatOfAll(t *testing.T) {
	k := newProven(t, onlyRate())
	for range 11 {
		k.attempt(breaker.Failure)
	}
	k.learn(breaker.Others{Window: []breaker.Tally{{At: k.now, Successes: 100}}})
	for range 20 {
		k.attempt(breaker.Failure)
	}
	k.wantState(breaker.Closed) // 31 of 132
	tallies := []breaker.Tally{{At: k.now, Successes: 100, Failures: 60}}
	k.wantMove(k.learn(breaker.Others{Window: tallies}), breaker.Closed, breaker.Open, breaker.RuleRate)
}

func TestShareTellsEverythingOnce(t *testing.T) {
	k := newProven(t, plain())
	if s := k.b.Share(k.now); s.Pending || len(s.Window)+len(s.Failures) > 0 {
		t.Fatalf("of a sound proxy there is nothing to tell: %+v", s)
	}
	k.wait(time.Second)
	k.attempt(breaker.Failure)
	s := k.b.Share(k.now)
	want := []breaker.Tally{{At: start, Successes: 1, Failures: 1}}
	if diff := cmp.Diff(want, s.Window); diff != "" || len(s.Failures) != 1 || !s.Pending {
		t.Errorf("%+v\n%s", s, diff)
	}
	if s := k.b.Share(k.now); len(s.Window)+len(s.Failures) > 0 {
		t.Errorf("told twice: %+v", s)
	}
	k.wait(time.Second)
	k.attempt(breaker.Failure)
	k.attempt(breaker.Success)
	s = k.b.Share(k.now)
	if len(s.Failures) != 0 || !s.LastSuccess.Equal(k.now) || s.Window[0] != (breaker.Tally{At: k.now, Successes: 1, Failures: 1}) {
		t.Errorf("%+v, want no failure of a run that has ended", s)
	}
	k.wait(2 * time.Minute)
	if s := k.b.Share(k.now); s.Pending {
		t.Errorf("nothing is held against it any more: %+v", s)
	}
}

func TestAdoptedRestIsKeptAndEndsLikeAnOwnOne(t *testing.T) {
	other := opened(t, plain())
	k := newProven(t, plain())
	late, _, _ := k.b.Acquire(k.now, lease)
	k.wait(time.Second)
	s := other.b.Share(other.now).Standing
	e, _, ok := k.b.Adopt(s, k.b.Share(k.now).Edition, k.now)
	if !ok {
		t.Fatal("not adopted")
	}
	k.wantMove(e, breaker.Closed, breaker.Open, breaker.RuleRun)
	k.wantRest(29 * time.Second)
	if e := k.b.Report(late, breaker.Verdict{Outcome: breaker.Failure}, k.now); !e.Stale {
		t.Error("a permit from before still counts")
	}
	k.wait(29 * time.Second)
	k.report(k.probe(), breaker.Failure)
	k.wantRest(time.Minute) // the second in a row
}

func TestAdoptedProbesCount(t *testing.T) {
	a, p := halfOpen(t, plain())
	a.report(p, breaker.Success)
	b := opened(t, plain())
	b.now = a.now
	s := a.b.Share(a.now)
	if _, _, ok := b.b.Adopt(s.Standing, b.b.Share(b.now).Edition, b.now); !ok || !b.b.Due(b.now) {
		t.Fatal("the rest is over there, but not here")
	}
	b.report(b.probe(), breaker.Success)
	b.wantState(breaker.Closed)
	e, _, ok := a.b.Adopt(b.b.Share(b.now).Standing, s.Edition, a.now)
	if !ok {
		t.Fatal("not adopted")
	}
	a.wantMove(e, breaker.HalfOpen, breaker.Closed, breaker.RuleRecovered)
}

func TestStandingThatHasChangedMeanwhileIsNotOverwritten(t *testing.T) {
	k := newProven(t, plain())
	edition := k.b.Share(k.now).Edition
	s := opened(t, plain()).b.Share(start).Standing
	for range 5 {
		k.attempt(breaker.Failure)
	}
	if _, _, ok := k.b.Adopt(s, edition, k.now); ok {
		t.Error("adopted over an unseen transition")
	}
}

func TestClosedAdoptsClosedWithoutAnyLoss(t *testing.T) {
	k := newProven(t, plain())
	for range 4 {
		k.attempt(breaker.Failure)
	}
	p, _, _ := k.b.Acquire(k.now, lease)
	if e, _, ok := k.b.Adopt(breaker.Standing{At: k.now}, k.b.Share(k.now).Edition, k.now); !ok || e != (breaker.Effect{}) {
		t.Errorf("%v, %+v", ok, e)
	}
	if e := k.b.Report(p, breaker.Verdict{Outcome: breaker.Failure}, k.now); !e.Moved {
		t.Errorf("the fifth failure did not open: %+v", e)
	}
}

func TestRestOfAStrangeClockIsCut(t *testing.T) {
	k := newProven(t, plain())
	s := breaker.Standing{State: breaker.Open, At: k.now.Add(time.Hour), Until: k.now.Add(1000 * time.Hour), OpensInRow: 1 << 40, ProbeWins: 99}
	_, _, _ = k.b.Adopt(s, k.b.Share(k.now).Edition, k.now)
	k.wantRest(15 * time.Minute)
}
