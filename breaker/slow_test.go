package breaker_test

import (
	"testing"
	"time"

	"swivel/breaker"
)

// limited are settings with a latency limit of one second.
func limited() breaker.Settings {
	s := plain()
	s.LatencyLimit = time.Second
	return s
}

// took is a successful attempt that was measured.
func (k *rig) took(latency time.Duration) breaker.Effect {
	k.t.Helper()
	return k.b.Report(k.acquire(), breaker.Verdict{Latency: latency}, k.now)
}

// slowTen is a block of ten of which one took too long.
func (k *rig) slowTen() breaker.Effect {
	k.t.Helper()
	k.took(time.Second + 1)
	return k.quick(9)
}

func (k *rig) quick(attempts int) (last breaker.Effect) {
	k.t.Helper()
	for range attempts {
		last = k.took(time.Second)
	}
	return last
}

func TestTwoSlowBlocksInARowOpen(t *testing.T) {
	k := newRig(t, limited())
	k.slowTen()
	k.wantState(breaker.Closed)
	e := k.slowTen()
	k.wantMove(e, breaker.Closed, breaker.Open, breaker.RuleSlow)
	if tr := e.Transition; tr.Samples != 20 || tr.Rate != 0 {
		t.Errorf("transition %+v, want 20 samples and no failures", tr)
	}
	k.wantRest(30 * time.Second)
}

func TestOneSlowBlockIsBadLuck(t *testing.T) {
	k := newRig(t, limited())
	for range 10 {
		k.slowTen()
		k.quick(10)
	}
	k.wantState(breaker.Closed)
}

func TestLatencyWithoutALimitDoesNotOpen(t *testing.T) {
	k := newRig(t, plain())
	for range 100 {
		k.took(time.Hour)
	}
	k.wantState(breaker.Closed)
}

func TestSuccessesThatWereNotMeasuredFillNoBlock(t *testing.T) {
	k := newRig(t, limited())
	for range 19 {
		k.took(time.Minute)
		k.attempt(breaker.Success)
		k.attempt(breaker.Ignored)
	}
	k.wantState(breaker.Closed)
	k.took(time.Minute)
	k.wantState(breaker.Open)
}

func TestSlowProbeIsAFailedProbe(t *testing.T) {
	k, p := halfOpen(t, limited())
	e := k.b.Report(p, breaker.Verdict{Latency: time.Second + 1}, k.now)
	k.wantMove(e, breaker.HalfOpen, breaker.Open, breaker.RuleProbe)
	k.wantRest(60 * time.Second)
	k.wait(60 * time.Second)
	k.took(time.Second)
	k.took(time.Second)
	k.wantState(breaker.Closed)
}

func TestLatenciesAreForgottenOnceRecovered(t *testing.T) {
	k := newRig(t, limited())
	k.slowTen()
	k.took(time.Minute)
	k.attempt(breaker.Refused)
	k.wait(time.Hour)
	k.took(time.Second)
	k.took(time.Second)
	k.slowTen()
	k.quick(9)
	k.wantState(breaker.Closed)
}
