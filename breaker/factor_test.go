package breaker_test

import (
	"math"
	"testing"
	"time"

	"swivel/breaker"
)

func (k *rig) wantFactor(want float64) {
	k.t.Helper()
	if got := k.b.Factor(k.now); math.Abs(got-want) > 1e-9 {
		k.t.Fatalf("Factor at +%v = %v, want %v", k.now.Sub(start), got, want)
	}
}

// recovered returns a breaker that has just closed.
func recovered(t *testing.T, s breaker.Settings) *rig {
	k, p := halfOpen(t, s)
	k.report(p, breaker.Success)
	k.attempt(breaker.Success)
	k.wantState(breaker.Closed)
	return k
}

func TestSoundProxyGetsExactlyItsShare(t *testing.T) {
	k := newRig(t, plain())
	k.wantFactor(1)
	for range 10 {
		for range 9 {
			k.attempt(breaker.Success)
		}
		k.attempt(breaker.Failure)
	}
	k.wantFactor(1)
}

func TestRecoveredProxyGetsItsShareBackSlowly(t *testing.T) {
	k, p := halfOpen(t, plain())
	k.wantFactor(0.1 / 6) // five of the six in the window failed
	k.report(p, breaker.Success)
	k.wait(time.Minute)
	k.wantFactor(0.1 * 0.1) // the last five ordinary attempts failed
	k.attempt(breaker.Success)
	k.wantFactor(0.1)
	k.wait(15 * time.Second)
	k.wantFactor(0.55)
	k.attempt(breaker.Success)
	k.wantFactor(0.55)
	k.wait(15*time.Second - 1)
	k.attempt(breaker.Success)
	k.wait(1)
	k.wantFactor(1)
	k.attempt(breaker.Success)
	k.wantFactor(1)
}

func TestSlowStartCanBeOff(t *testing.T) {
	s := plain()
	s.SlowStart = 0
	recovered(t, s).wantFactor(1)
}

func TestSlowStartGoesOnAfterARestart(t *testing.T) {
	k := recovered(t, plain())
	k.wait(5 * time.Second)
	k.restart(10 * time.Second)
	k.wantFactor(0.55)
}

func TestRestoredOpenBreakerStartsSlowlyOnceItCloses(t *testing.T) {
	k := opened(t, plain())
	k.wait(time.Minute)
	k.restart(time.Minute)
	k.attempt(breaker.Success)
	k.attempt(breaker.Success)
	k.wait(15 * time.Second)
	k.wantFactor(0.55)
}

func TestProxyThatNeverWorkedFadesFast(t *testing.T) {
	k := newRig(t, onlyRate())
	for _, want := range []float64{0.3, 0.1, 0.03, 0.03} {
		k.attempt(breaker.Failure)
		k.wantFactor(want)
	}
	k.wait(24 * time.Hour)
	k.b = breaker.Restore(onlyRate(), k.b.Snapshot(k.now), nil, k.now)
	k.wantFactor(0.03) // of all that, only this is not forgotten
	k.attempt(breaker.Success)
	k.wantFactor(0.2) // four of the last five failed
}

func TestProxyThatWorkedOnceLosesOnlyWhatItFails(t *testing.T) {
	k := newRig(t, plain())
	k.attempt(breaker.Success)
	k.restart(time.Hour)
	for _, want := range []float64{0.8, 0.6, 0.4, 0.2} {
		k.attempt(breaker.Failure)
		k.wantFactor(want)
	}
}

func TestHealthIsTheRatioOfTheWindow(t *testing.T) {
	s := plain()
	s.ConsecutiveFailures, s.ErrorRatio = 0, 1
	k := newRig(t, s)
	k.mixed(100, 4)
	k.wantFactor(0.75)
	for range 10_000 {
		k.attempt(breaker.Failure)
	}
	k.wantFactor(0.1) // and no less
}

func TestHealthOfTheWindowEndsWithIt(t *testing.T) {
	k := newRig(t, plain())
	k.mixed(60, 3)
	for range 5 {
		k.attempt(breaker.Success)
	}
	k.wantFactor(45.0 / 65)
	k.wait(time.Minute - 1)
	k.wantFactor(45.0 / 65)
	k.wait(1)
	k.wantFactor(1) // the last five, without anybody's report
}

func TestFailuresOfLongAgoAreMadeUpForWithinFiveAttempts(t *testing.T) {
	k := newRig(t, plain())
	for range 1000 {
		k.attempt(breaker.Success)
		k.attempt(breaker.Failure)
		k.wait(time.Hour)
	}
	k.wait(time.Hour)
	for range 5 {
		k.attempt(breaker.Success)
	}
	k.wantFactor(1)
}

func TestFactorIsNeverZeroNorMoreThanOne(t *testing.T) {
	k, _ := halfOpen(t, plain())
	for _, d := range []time.Duration{math.MinInt64, -time.Hour, 0, time.Hour, math.MaxInt64} {
		if f := k.b.Factor(k.now.Add(d)); !(f > 0 && f <= 1) {
			t.Errorf("factor %v at %v", f, d)
		}
	}
}

func TestFirstSuccessAfterMissesIsWorthStoring(t *testing.T) {
	k := newRig(t, plain())
	k.attempt(breaker.Failure)
	k.restart(2 * time.Hour) // the run is over, the miss is not
	k.wantChanged(k.attempt(breaker.Success), true)
	k.wantChanged(k.attempt(breaker.Success), false)
}
