package breaker_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"swivel/breaker"
)

func TestOpenBecomesHalfOpenWhenAcquireFindsTheRestOver(t *testing.T) {
	k := opened(t, plain())
	k.wait(time.Hour)
	k.wantState(breaker.Open) // nobody has come by
	if !k.b.Due(k.now) {
		t.Error("not due an hour after the rest began")
	}
	p, e, ok := k.b.Acquire(k.now, lease)
	if !ok || !p.Probe() {
		t.Fatalf("Acquire = %+v, %v, want a probe", p, ok)
	}
	k.wantMove(e, breaker.Open, breaker.HalfOpen, breaker.RuleDue)
	k.wantState(breaker.HalfOpen)
}

func TestBurstOnAHalfOpenBreakerIsOneProbe(t *testing.T) {
	k, _ := halfOpen(t, plain())
	for range 100 {
		k.wantRefused()
	}
}

func TestTwoProbesInARowClose(t *testing.T) {
	k, p := halfOpen(t, plain())
	k.wantChanged(k.report(p, breaker.Success), true)
	k.wantState(breaker.HalfOpen)
	k.wantMove(k.report(k.probe(), breaker.Success), breaker.HalfOpen, breaker.Closed, breaker.RuleRecovered)
	if k.acquire().Probe() {
		t.Error("a closed breaker granted a probe")
	}
}

func TestOneFailedProbeReopensAtOnceWithALongerRest(t *testing.T) {
	k, p := halfOpen(t, plain())
	k.report(p, breaker.Success) // does not buy it a failure
	k.wantMove(k.report(k.probe(), breaker.Failure), breaker.HalfOpen, breaker.Open, breaker.RuleProbe)
	k.wantRest(60 * time.Second)
	k.wait(60 * time.Second)
	k.report(k.probe(), breaker.Success) // nor does the old success count now
	k.wantState(breaker.HalfOpen)
}

func TestSuspectProbeReopensForTheSameRest(t *testing.T) {
	k, p := halfOpen(t, plain())
	k.report(p, breaker.Failure)
	for range 3 {
		k.wait(60 * time.Second)
		k.wantMove(k.suspect(), breaker.HalfOpen, breaker.Open, breaker.RuleProbe)
		k.wantRest(60 * time.Second)
	}
}

func TestSuspectProbeAfterThrottlingRestsForTheShortestTime(t *testing.T) {
	k := newRig(t, plain())
	k.b.Report(k.acquire(), breaker.Verdict{Outcome: breaker.Throttled, Rest: 10 * time.Minute}, k.now)
	k.wait(10 * time.Minute)
	k.suspect()
	k.wantRest(30 * time.Second)
}

func TestEveryEndOfAProbeLetsTheBreakerGoOn(t *testing.T) {
	ends := map[string]func(*rig, breaker.Permit){
		"success":   func(k *rig, p breaker.Permit) { k.report(p, breaker.Success) },
		"failure":   func(k *rig, p breaker.Permit) { k.report(p, breaker.Failure) },
		"refused":   func(k *rig, p breaker.Permit) { k.report(p, breaker.Refused) },
		"throttled": func(k *rig, p breaker.Permit) { k.report(p, breaker.Throttled) },
		"ignored":   func(k *rig, p breaker.Permit) { k.report(p, breaker.Ignored) },
		"unknown":   func(k *rig, p breaker.Permit) { k.report(p, breaker.Outcome(77)) },
		"suspect":   func(k *rig, p breaker.Permit) { k.b.Report(p, suspected, k.now) },
		"lost":      func(k *rig, _ breaker.Permit) { k.wait(lease) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			k, p := halfOpen(t, plain())
			end(k, p)
			k.wait(k.b.RetryAfter(k.now))
			k.probe()
		})
	}
}

func TestProbeWhoseClientLeftIsGrantedAgain(t *testing.T) {
	k, p := halfOpen(t, plain())
	k.wait(2 * time.Second)
	k.wantChanged(k.report(p, breaker.Ignored), false)
	next := k.probe() // at once: the last one was granted long enough ago
	k.report(next, breaker.Success)
	k.wantMove(k.report(k.probe(), breaker.Success), breaker.HalfOpen, breaker.Closed, breaker.RuleRecovered)
}

func TestClientsThatKeepLeavingCarryOneProbeASecond(t *testing.T) {
	k, p := halfOpen(t, plain())
	k.report(p, breaker.Ignored)
	k.wantRest(time.Second)
	probes := 0
	for range 100 {
		k.wait(100 * time.Millisecond)
		if p, _, ok := k.b.Acquire(k.now, lease); ok {
			probes++
			k.report(p, breaker.Ignored)
		}
	}
	if probes != 10 {
		t.Errorf("%d probes in ten seconds, want 10", probes)
	}
}

func TestIgnoredProbeKeepsTheWinsBeforeIt(t *testing.T) {
	k, p := halfOpen(t, plain())
	k.report(p, breaker.Success)
	k.report(k.probe(), breaker.Ignored)
	k.wait(time.Second)
	k.report(k.probe(), breaker.Success)
	k.wantState(breaker.Closed)
}

func TestOldProbeCannotSpeakForItsSuccessor(t *testing.T) {
	k, old := halfOpen(t, plain())
	k.report(old, breaker.Ignored)
	k.wantStale(k.report(old, breaker.Failure)) // reported twice, nothing in flight
	k.wait(time.Second)
	next := k.probe()
	k.wantStale(k.report(old, breaker.Failure))
	k.wantChanged(k.report(next, breaker.Success), true)
	k.wantStale(k.report(next, breaker.Success))
}

func TestLostProbeCountsAsFailedSinceItsLeaseExpired(t *testing.T) {
	k, p := halfOpen(t, plain())
	granted := k.now
	k.wait(lease - 1)
	k.wantState(breaker.HalfOpen)
	k.wantRest(1)
	k.wait(1 + 20*time.Second)
	k.wantState(breaker.Open)
	k.wantRest(40 * time.Second) // of 60 since the lease expired; this settled it
	e := k.report(p, breaker.Success)
	k.wantStale(e)
	if got := k.b.Snapshot(k.now).LastChange; !got.Equal(granted.Add(lease)) {
		t.Errorf("opened at %v, want the end of the lease %v", got, granted.Add(lease))
	}
}

func TestLateReportOfALostProbeTellsOfTheReopening(t *testing.T) {
	k, p := halfOpen(t, plain())
	k.wait(lease)
	e := k.report(p, breaker.Success)
	k.wantMove(e, breaker.HalfOpen, breaker.Open, breaker.RuleProbe)
	if !e.Stale {
		t.Error("the result of a lost probe was taken")
	}
}

func TestRefusedAcquireTellsOfTheLostProbe(t *testing.T) {
	k, _ := halfOpen(t, plain())
	k.wait(lease)
	if !k.b.Ready(k.now) {
		t.Fatal("not ready: nobody would come by to notice")
	}
	_, e, ok := k.b.Acquire(k.now, lease)
	if ok {
		t.Fatal("granted, want a refusal")
	}
	k.wantMove(e, breaker.HalfOpen, breaker.Open, breaker.RuleProbe)
}

func TestProbeLostLongAgoMakesTwoTransitions(t *testing.T) {
	k, _ := halfOpen(t, plain())
	expired := k.now.Add(lease)
	k.wait(24 * time.Hour)
	p, e, ok := k.b.Acquire(k.now, lease)
	if !ok || !p.Probe() {
		t.Fatal("a probe that was lost a day ago still blocks the breaker")
	}
	moves := slices.Collect(e.Transitions)
	if len(moves) != 2 || moves[0] != e.Earlier || moves[1] != e.Transition {
		t.Fatalf("transitions %+v of effect %+v, want its two", moves, e)
	}
	k.wantMove(e, breaker.Open, breaker.HalfOpen, breaker.RuleDue)
	first := moves[0]
	if first.To != breaker.Open || first.Rule != breaker.RuleProbe || !first.At.Equal(expired) ||
		!first.Until.Equal(expired.Add(time.Minute)) {
		t.Errorf("first transition %+v, want open by probe at %v for 1m", first, expired)
	}
	for range e.Transitions {
		break // must not be called on
	}
}

func TestLeaseThatIsNoneFailsAtOnceAndLeavesTheBreakerUsable(t *testing.T) {
	k := opened(t, plain())
	k.wait(30 * time.Second)
	p, _, _ := k.b.Acquire(k.now, -time.Hour)
	if e := k.report(p, breaker.Success); !e.Stale || !e.Moved {
		t.Errorf("effect %+v, want a lost probe", e)
	}
	k.wantRest(60 * time.Second)
}

func TestLeaseOfCenturiesDoesNotExpireAtOnce(t *testing.T) {
	k := opened(t, plain())
	k.wait(30 * time.Second)
	p, _, _ := k.b.Acquire(k.now, math.MaxInt64)
	k.wait(time.Hour)
	k.wantChanged(k.report(p, breaker.Success), true)
}
