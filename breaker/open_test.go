package breaker_test

import (
	"math"
	"testing"
	"time"

	"swivel/breaker"
)

func TestRefusalOpensAtOnce(t *testing.T) {
	k := newRig(t, plain())
	k.wantMove(k.attempt(breaker.Refused), breaker.Closed, breaker.Open, breaker.RuleRefused)
	k.wantRest(15 * time.Minute)
}

func TestRefusalAfterRefusalDoesNotRestLonger(t *testing.T) {
	k := newRig(t, plain())
	k.attempt(breaker.Refused)
	for range 4 {
		k.wait(15 * time.Minute)
		k.wantMove(k.report(k.probe(), breaker.Refused), breaker.HalfOpen, breaker.Open, breaker.RuleRefused)
		k.wantRest(15 * time.Minute)
	}
	k.wait(15 * time.Minute)
	k.report(k.probe(), breaker.Failure)
	k.wantRest(30 * time.Second) // the first fault of its own
}

func TestThrottledRestsAsLongAsTheProxyAsked(t *testing.T) {
	for _, c := range []struct {
		name       string
		asked, got time.Duration
	}{
		{"named", 42 * time.Second, 42 * time.Second},
		{"shorter than open_timeout", time.Second, time.Second},
		{"for days", 72 * time.Hour, 15 * time.Minute},
		{"for ever", math.MaxInt64, 15 * time.Minute},
		{"not named", 0, 30 * time.Second},
		{"negative", -time.Second, 30 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newRig(t, plain())
			e := k.b.Report(k.acquire(), breaker.Verdict{Outcome: breaker.Throttled, Rest: c.asked}, k.now)
			k.wantMove(e, breaker.Closed, breaker.Open, breaker.RuleThrottled)
			k.wantRest(c.got)
		})
	}
}

func TestThrottlingDoesNotMakeLaterRestsLonger(t *testing.T) {
	k := newRig(t, plain())
	for range 5 {
		k.attempt(breaker.Throttled)
		k.wantRest(30 * time.Second)
		k.wait(30 * time.Second)
	}
	k.wantMove(k.report(k.probe(), breaker.Failure), breaker.HalfOpen, breaker.Open, breaker.RuleProbe)
	k.wantRest(30 * time.Second)
}

func TestThrottledBreakerProvesItselfLikeAnyOther(t *testing.T) {
	k := newRig(t, plain())
	k.attempt(breaker.Throttled)
	k.wait(30 * time.Second)
	p := k.probe()
	k.wantRefused()
	k.report(p, breaker.Success)
	k.wantMove(k.report(k.probe(), breaker.Success), breaker.HalfOpen, breaker.Closed, breaker.RuleRecovered)
}

func TestRestDoublesUpToTheMaximumAndDoesNotOverflow(t *testing.T) {
	k := opened(t, plain())
	want := 30 * time.Second
	for range 200 {
		k.wantRest(want)
		k.wait(want)
		k.report(k.probe(), breaker.Failure)
		want = min(2*want, 15*time.Minute)
	}
}

func TestDeadProxyIsNotTriedEverySecond(t *testing.T) {
	k := opened(t, plain())
	attempts := 0
	for range 3600 {
		k.wait(time.Second)
		if p, _, ok := k.b.Acquire(k.now, lease); ok {
			attempts++
			k.report(p, breaker.Failure)
		}
	}
	if attempts > 8 { // after 30 s, 1, 2, 4, 8, 15, 15 minutes
		t.Errorf("%d attempts on a dead proxy within an hour", attempts)
	}
}

func TestJitterOnlyLengthensARest(t *testing.T) {
	for _, c := range []struct {
		name   string
		random float64
		want   time.Duration
	}{
		{"none", 0, 30 * time.Second},
		{"half", 0.5, 31500 * time.Millisecond},
		{"all", 1, 33 * time.Second},
		{"negative", -3, 30 * time.Second},
		{"too large", 7, 30 * time.Second},
		{"not a number", math.NaN(), 30 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			random := func() float64 { return c.random }
			k := &rig{t: t, b: breaker.New(breaker.DefaultSettings(), random), now: start}
			for range 3 {
				k.attempt(breaker.Failure)
			}
			k.wantRest(c.want)
		})
	}
}

func TestRelapseWithinAMinuteRestsLonger(t *testing.T) {
	for _, c := range []struct {
		name   string
		closed time.Duration
		want   time.Duration
	}{
		{"within", 60*time.Second - 1, 60 * time.Second},
		{"after", 60 * time.Second, 30 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, p := halfOpen(t, plain())
			k.report(p, breaker.Success)
			k.attempt(breaker.Success)
			k.wait(c.closed)
			for range 5 {
				k.attempt(breaker.Failure)
			}
			k.wantRest(c.want)
		})
	}
}

func TestLateResultsOfAnOpenBreakerChangeNothing(t *testing.T) {
	k := newProven(t, plain())
	late := k.acquire()
	for range 5 {
		k.attempt(breaker.Failure)
	}
	before := k.b.Snapshot(k.now)
	for _, o := range []breaker.Outcome{breaker.Success, breaker.Failure, breaker.Refused, breaker.Throttled, breaker.Ignored} {
		k.wantStale(k.report(late, o))
	}
	k.wantStale(k.b.Report(late, suspected, k.now))
	wantSame(t, k.b.Snapshot(k.now), before)
}

func TestZeroPermitIsStaleInEveryState(t *testing.T) {
	closed := newRig(t, plain())
	half, _ := halfOpen(t, plain())
	for _, k := range []*rig{closed, opened(t, plain()), half} {
		k.wantStale(k.report(breaker.Permit{}, breaker.Refused))
	}
}
