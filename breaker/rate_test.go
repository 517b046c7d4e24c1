package breaker_test

import (
	"testing"
	"time"

	"swivel/breaker"
)

// mixed makes attempts of which each n-th fails, the last one among them.
func (k *rig) mixed(attempts, n int) (last breaker.Effect) {
	k.t.Helper()
	for i := range attempts {
		o := breaker.Success
		if (attempts-i)%n == 1%n {
			o = breaker.Failure
		}
		last = k.attempt(o)
	}
	return last
}

// onlyRate are settings by which no run opens.
func onlyRate() breaker.Settings {
	s := plain()
	s.ConsecutiveFailures = 0
	return s
}

func TestTooManyFailuresAmongSuccessesOpen(t *testing.T) {
	k := newRig(t, plain())
	for range 3 {
		k.mixed(2, 2) // success, failure
		k.mixed(3, 3)
		k.wait(time.Second)
	}
	k.mixed(3, 3)
	k.wantState(breaker.Closed) // 7 of 18
	e := k.mixed(2, 2)
	k.wantMove(e, breaker.Closed, breaker.Open, breaker.RuleRate)
	if tr := e.Transition; tr.Rate != 0.4 || tr.Samples != 20 || tr.Failures != 1 {
		t.Errorf("transition %+v, want 0.4 of 20 and a run of one", tr)
	}
	k.wantRest(30 * time.Second)
}

func TestFewOutcomesAreNoRate(t *testing.T) {
	k := newRig(t, onlyRate())
	for range 19 {
		k.attempt(breaker.Failure)
	}
	k.wantState(breaker.Closed)
	k.wantMove(k.attempt(breaker.Failure), breaker.Closed, breaker.Open, breaker.RuleRate)
}

func TestRateIsNotJudgedOnASuccess(t *testing.T) {
	k := newRig(t, onlyRate())
	for range 19 {
		k.attempt(breaker.Failure)
	}
	k.attempt(breaker.Success)
	k.wantState(breaker.Closed)
}

func TestFailuresOlderThanTheWindowAreNoRate(t *testing.T) {
	for _, c := range []struct {
		name string
		wait time.Duration
		want breaker.State
	}{
		{"within", time.Minute - 1, breaker.Open},
		{"after", time.Minute, breaker.Closed},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newRig(t, onlyRate())
			for range 19 {
				k.attempt(breaker.Failure)
			}
			k.wait(c.wait)
			k.attempt(breaker.Failure)
			k.wantState(c.want)
		})
	}
}

func TestIgnoredRefusedAndSuspectedAreNoSamples(t *testing.T) {
	k := newRig(t, onlyRate())
	for range 40 {
		k.attempt(breaker.Ignored)
		k.suspect()
	}
	e := k.attempt(breaker.Refused)
	if tr := e.Transition; tr.Samples != 0 || tr.Rate != 0 {
		t.Errorf("transition %+v, want no samples", tr)
	}
}

func TestRateIsForgottenOnceRecovered(t *testing.T) {
	k := newRig(t, onlyRate())
	for range 20 {
		k.attempt(breaker.Failure)
	}
	k.wait(30 * time.Second)
	k.attempt(breaker.Success)
	k.attempt(breaker.Success)
	for range 19 {
		k.attempt(breaker.Failure)
	}
	k.wantState(breaker.Closed)
}

func TestRotatingProxyIsNotOpenedByARunOfBadExits(t *testing.T) {
	k := newRig(t, plain().Rotating())
	k.mixed(40, 2)
	for range 30 {
		k.attempt(breaker.Failure)
		k.suspect()
	}
	k.wantState(breaker.Closed) // 50 of 70
	for range 29 {
		k.attempt(breaker.Failure)
	}
	k.wantMove(k.attempt(breaker.Failure), breaker.Closed, breaker.Open, breaker.RuleRate)
}

func TestLoneProxyRestsNoLongerEachTime(t *testing.T) {
	alone := breaker.Verdict{Outcome: breaker.Failure, Alone: true}
	k := newProven(t, plain())
	for range 5 {
		k.b.Report(k.acquire(), alone, k.now)
	}
	for range 5 {
		k.wantRest(30 * time.Second)
		k.wait(30 * time.Second)
		k.b.Report(k.probe(), alone, k.now)
	}
	k.wait(30 * time.Second)
	k.report(k.probe(), breaker.Failure) // others can serve again
	k.wantRest(30 * time.Second)
	k.wait(30 * time.Second)
	k.report(k.probe(), breaker.Failure)
	k.wantRest(60 * time.Second)
}

func TestRateSurvivesARestart(t *testing.T) {
	longer := onlyRate()
	longer.Window = 4 * time.Minute
	for _, c := range []struct {
		name     string
		after    breaker.Settings
		downtime time.Duration
		want     breaker.State
	}{
		{"within the window", onlyRate(), 30 * time.Second, breaker.Open},
		{"older in part", onlyRate(), 46 * time.Second, breaker.Closed},
		{"older", onlyRate(), time.Hour, breaker.Closed},
		{"a longer window", longer, 2 * time.Minute, breaker.Open},
		{"clock set back", onlyRate(), -time.Hour, breaker.Open},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newRig(t, onlyRate())
			for range 19 {
				k.attempt(breaker.Failure)
				k.wait(750 * time.Millisecond)
			}
			snap := k.b.Snapshot(k.now)
			k.wait(c.downtime)
			k.b = breaker.Restore(c.after, snap, nil, k.now)
			k.wantState(breaker.Closed)
			k.attempt(breaker.Failure)
			k.wantState(c.want)
		})
	}
}
