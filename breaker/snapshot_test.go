package breaker_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"swivel/breaker"
)

func wantSame(t *testing.T, got, want breaker.Snapshot) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("snapshot differs (-want +got):\n%s", diff)
	}
}

// restart puts a restored breaker in place of the one of k, after downtime.
func (k *rig) restart(downtime time.Duration) {
	snap := k.b.Snapshot(k.now)
	k.wait(downtime)
	k.b = breaker.Restore(plain(), snap, nil, k.now)
}

func TestSnapshotOfANewBreakerIsZeroButForTheGeneration(t *testing.T) {
	k := newRig(t, plain())
	wantSame(t, k.b.Snapshot(k.now), breaker.Snapshot{Generation: 1})
}

func TestSnapshotHoldsWhatTheRowNeeds(t *testing.T) {
	k := newRig(t, plain())
	k.suspect()
	for range 3 {
		k.attempt(breaker.Failure)
	}
	times := make([]time.Time, 3)
	for i := range times {
		times[i] = start
	}
	wantSame(t, k.b.Snapshot(k.now.Add(time.Second)), breaker.Snapshot{
		State: breaker.Open, Generation: 2, Failures: times, Suspicions: 1, OpensInRow: 1,
		Rule: breaker.RuleRun, NextTest: start.Add(30 * time.Second), LastChange: start,
		Window: []breaker.Tally{{At: start, Failures: 3}}, Recent: "---", Misses: 3,
	})
}

func TestSnapshotHasNoMonotonicTimes(t *testing.T) {
	k := newProven(t, plain())
	k.now = time.Now()
	for range 5 {
		k.attempt(breaker.Failure)
	}
	snap := k.b.Snapshot(k.now)
	for _, got := range append(snap.Failures, snap.NextTest, snap.LastChange) {
		if got != got.Round(0) {
			t.Errorf("%v would be stored with a clock that ends with the process", got)
		}
	}
}

func TestCauseIsKeptUntilTheBreakerHasRecovered(t *testing.T) {
	k := newRig(t, plain())
	k.attempt(breaker.Refused)
	k.wait(time.Hour)
	k.attempt(breaker.Success)
	if snap := k.b.Snapshot(k.now); snap.State != breaker.HalfOpen || snap.Rule != breaker.RuleRefused || snap.ProbeWins != 1 {
		t.Errorf("%+v, want half_open after a refusal with one win", snap)
	}
	k.attempt(breaker.Success)
	if snap := k.b.Snapshot(k.now); snap.Rule != breaker.RuleRecovered || !snap.NextTest.IsZero() {
		t.Errorf("%+v, want recovered without a next test", snap)
	}
}

func TestRestoredOpenBreakerKeepsTheRestItHasLeft(t *testing.T) {
	k := opened(t, plain())
	k.wait(10 * time.Second)
	k.restart(5 * time.Second)
	if k.b.Ready(k.now) {
		t.Error("ready before anybody has asked")
	}
	k.wantState(breaker.Open)
	k.wantRest(15 * time.Second)
	k.wait(15 * time.Second)
	k.report(k.probe(), breaker.Failure)
	k.wantRest(60 * time.Second) // and its opens in a row
}

func TestRestIsClampedWhateverTheClockDid(t *testing.T) {
	refusedLonger := plain()
	refusedLonger.RefusedTimeout = 3 * time.Hour
	for _, c := range []struct {
		name     string
		settings breaker.Settings
		rule     breaker.Rule
		left     time.Duration
		want     time.Duration
	}{
		{"clock set back a day", plain(), breaker.RuleRun, 24 * time.Hour, 15 * time.Minute},
		{"clock set back for ever", plain(), breaker.RuleRun, math.MaxInt64, 15 * time.Minute},
		{"clock set forward", plain(), breaker.RuleRun, -24 * time.Hour, 0},
		{"refused", refusedLonger, breaker.RuleRefused, 24 * time.Hour, 3 * time.Hour},
		{"refused, little left", refusedLonger, breaker.RuleRefused, time.Hour, time.Hour},
		{"not refused", refusedLonger, breaker.RuleProbe, time.Hour, 15 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			snap := breaker.Snapshot{State: breaker.Open, Rule: c.rule, NextTest: start.Add(c.left)}
			k := &rig{t: t, b: breaker.Restore(c.settings, snap, nil, start), now: start}
			k.wantState(breaker.Open)
			k.wantRest(c.want)
		})
	}
}

// Such a row is another program's. Since the end of the rest was before all
// times, it was told and stored as one 292 years ahead.
func TestRestWithoutAnEndIsOverNow(t *testing.T) {
	for _, state := range []breaker.State{breaker.Open, breaker.HalfOpen} {
		k := &rig{t: t, b: breaker.Restore(plain(), breaker.Snapshot{State: state}, nil, start), now: start}
		k.wantState(breaker.Open)
		k.wait(time.Minute)
		if got := k.b.Snapshot(k.now).NextTest; !got.Equal(start) || !k.b.Due(k.now) {
			t.Errorf("%v: due %v, rest over at %v, want %v", state, k.b.Due(k.now), got, start)
		}
		k.restart(0) // or a reload
		k.wantRest(0)
	}
}

func TestJitterOfARestIsNotClampedAway(t *testing.T) {
	for _, c := range []struct{ left, want time.Duration }{
		{16 * time.Minute, 16 * time.Minute},                // within maximum and jitter
		{17 * time.Minute, 15*time.Minute + 45*time.Second}, // beyond: drawn anew
	} {
		snap := breaker.Snapshot{State: breaker.Open, Rule: breaker.RuleProbe, NextTest: start.Add(c.left)}
		b := breaker.Restore(breaker.DefaultSettings(), snap, func() float64 { return 0.5 }, start)
		if got := b.RetryAfter(start); got != c.want {
			t.Errorf("rest of %v restored as %v, want %v", c.left, got, c.want)
		}
	}
}

func TestRestoredHalfOpenBreakerIsDueAndItsProbeForgotten(t *testing.T) {
	k, p := halfOpen(t, plain())
	k.report(p, breaker.Success)
	p = k.probe()
	k.restart(0)
	k.wantState(breaker.Open)
	if !k.b.Due(k.now) || !k.b.Ready(k.now) {
		t.Error("not due")
	}
	k.wantStale(k.report(p, breaker.Success))
	k.report(k.probe(), breaker.Success) // the win before the restart counts
	k.wantState(breaker.Closed)
}

func TestRestoredClosedBreakerKeepsItsRun(t *testing.T) {
	k := newProven(t, plain())
	late := k.acquire()
	for range 4 {
		k.attempt(breaker.Failure)
		k.suspect()
	}
	k.restart(time.Minute)
	k.wantStale(k.report(late, breaker.Failure))
	k.wantState(breaker.Closed)
	k.attempt(breaker.Failure)
	k.wantState(breaker.Open)
}

func TestFailuresTooOldAtTheRestartDoNotCount(t *testing.T) {
	k := newProven(t, plain())
	for range 4 {
		k.attempt(breaker.Failure)
	}
	k.restart(2 * time.Hour)
	if got := len(k.b.Snapshot(k.now).Failures); got != 0 {
		t.Errorf("%d failures two hours later, want none", got)
	}
}

func TestFailuresInTheFutureAreTakenAsOfNow(t *testing.T) {
	future := start.Add(1000 * time.Hour)
	snap := breaker.Snapshot{Failures: []time.Time{future, future, future, future}, LastChange: future}
	got := breaker.Restore(plain(), snap, nil, start).Snapshot(start)
	wantSame(t, got, breaker.Snapshot{
		Generation: 1, Failures: []time.Time{start, start, start, start}, LastChange: start,
	})
}

func TestRestoreDoesNotOpenAClosedBreakerByItself(t *testing.T) {
	snap := breaker.Snapshot{Suspicions: 99}
	for range 12 {
		snap.Failures = append(snap.Failures, start)
	}
	k := &rig{t: t, b: breaker.Restore(plain(), snap, nil, start), now: start}
	k.wantState(breaker.Closed)
	k.attempt(breaker.Ignored)
	k.wantState(breaker.Closed)
	k.attempt(breaker.Failure)
	k.wantState(breaker.Open)
}

func TestOpensInARowSurviveARestartSoonAfterClosing(t *testing.T) {
	for downtime, want := range map[time.Duration]time.Duration{
		10 * time.Second: time.Minute,
		2 * time.Minute:  30 * time.Second,
	} {
		k, p := halfOpen(t, plain())
		k.report(p, breaker.Success)
		k.attempt(breaker.Success)
		k.restart(downtime)
		for range 5 {
			k.attempt(breaker.Failure)
		}
		k.wantRest(want)
	}
}

func TestGenerationNeverBecomesTheZeroPermits(t *testing.T) {
	k := newRig(t, plain())
	k.b = breaker.Restore(plain(), breaker.Snapshot{Generation: math.MaxUint32}, nil, k.now)
	k.wantStale(k.report(breaker.Permit{}, breaker.Failure))
	k.wantChanged(k.attempt(breaker.Failure), true)
}

func TestAbsurdSnapshotsMakeABreakerThatWorks(t *testing.T) {
	for name, snap := range map[string]breaker.Snapshot{
		"zero":               {},
		"unknown words":      {State: 77, Rule: 99},
		"open without times": {State: breaker.Open},
		"half open in the future": {
			State: breaker.HalfOpen, NextTest: start.Add(math.MaxInt64), LastChange: start.Add(math.MaxInt64),
		},
		"counters": {State: breaker.Open, OpensInRow: math.MaxInt, ProbeWins: math.MaxInt, Suspicions: math.MinInt},
		"negative": {State: breaker.HalfOpen, OpensInRow: math.MinInt, ProbeWins: -1, Suspicions: -1},
		"window": {
			Window: []breaker.Tally{
				{At: start, Successes: math.MinInt, Failures: math.MaxInt}, {At: start.Add(time.Hour), Failures: -1}, {Failures: 9},
			},
			Recent: "+-x\x00" + strings.Repeat("-", 1000), Misses: math.MaxInt,
		},
		"year 30000": {
			State: breaker.Open, NextTest: time.Unix(1<<40, 0), LastChange: time.Unix(1<<40, 0),
			Failures: []time.Time{time.Unix(1<<40, 0), time.Unix(-1<<40, 0), {}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := &rig{t: t, b: breaker.Restore(plain(), snap, nil, start), now: start}
			wait := k.b.RetryAfter(k.now)
			if wait > 15*time.Minute {
				t.Fatalf("refuses for %v", wait)
			}
			k.wait(wait)
			k.attempt(breaker.Failure)
			k.wait(k.b.RetryAfter(k.now))
			k.attempt(breaker.Success)
			k.attempt(breaker.Success)
			k.wantState(breaker.Closed)
			if snap := k.b.Snapshot(k.now); snap.OpensInRow < 0 || snap.Suspicions != 0 {
				t.Errorf("odd leftovers: %+v", snap)
			}
		})
	}
}
