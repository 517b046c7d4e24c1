package breaker_test

import (
	"runtime"
	"testing"
	"time"

	"swivel/breaker"
)

func TestWhatReadersSeeOverTheLifeOfABreaker(t *testing.T) {
	k := newProven(t, plain())
	check := func(what string, state breaker.State, ready, due bool, retry time.Duration) {
		t.Helper()
		if s, r, d, a := k.b.State(k.now), k.b.Ready(k.now), k.b.Due(k.now), k.b.RetryAfter(k.now); s != state ||
			r != ready || d != due || a != retry {
			t.Errorf("%s: state %v, ready %v, due %v, retry after %v, want %v, %v, %v, %v",
				what, s, r, d, a, state, ready, due, retry)
		}
	}
	check("new", breaker.Closed, true, false, 0)
	for range 5 {
		k.attempt(breaker.Failure)
	}
	check("opened", breaker.Open, false, false, 30*time.Second)
	k.wait(30*time.Second - 1)
	check("just before the end of the rest", breaker.Open, false, false, 1)
	k.wait(1)
	check("rest over", breaker.Open, true, true, 0)
	p := k.probe()
	check("probe out", breaker.HalfOpen, false, false, lease)
	k.report(p, breaker.Success)
	check("one probe won", breaker.HalfOpen, true, true, 0)
	k.report(k.probe(), breaker.Ignored)
	check("one ignored", breaker.HalfOpen, false, false, time.Second)
	k.wait(time.Second)
	check("a second later", breaker.HalfOpen, true, true, 0)
	k.probe()
	k.wait(lease)
	check("probe lost", breaker.Open, true, false, 60*time.Second)
	k.wait(60 * time.Second)
	check("probe lost, rest over", breaker.Open, true, true, 0)
	k.report(k.probe(), breaker.Success)
	k.report(k.probe(), breaker.Success)
	check("recovered", breaker.Closed, true, false, 0)
}

func TestLookingDoesNotSettleALostProbe(t *testing.T) {
	draws := 0
	random := func() float64 { draws++; return 0.5 }
	k := &rig{t: t, b: breaker.New(breaker.DefaultSettings(), random), now: start}
	k.attempt(breaker.Refused)
	k.wait(time.Hour)
	k.probe()
	k.wait(lease)
	drawn := draws
	seen := k.b.RetryAfter(k.now)
	for range 3 {
		k.b.State(k.now)
		k.b.Due(k.now)
		k.b.Ready(k.now)
		k.b.Snapshot(k.now)
		if got := k.b.RetryAfter(k.now); got != seen {
			t.Errorf("RetryAfter = %v, and %v a moment ago", got, seen)
		}
	}
	_, e, _ := k.b.Acquire(k.now, lease)
	k.wantMove(e, breaker.HalfOpen, breaker.Open, breaker.RuleProbe)
	if got := e.Transition.Until.Sub(k.now); got != seen {
		t.Errorf("the rest is %v, readers saw %v", got, seen)
	}
	if draws != drawn {
		t.Error("looking used up random numbers")
	}
}

func TestTimeBeforeTheFirstCallDoesNotGrant(t *testing.T) {
	k := opened(t, plain())
	k.wait(-time.Hour) // callers' clocks need not be in order
	k.wantRest(time.Hour + 30*time.Second)
	if k.b.Ready(k.now) {
		t.Error("ready an hour before it opened")
	}
}

// TestBreakersOfALargePoolFitIntoMemory is about pools of 100,000 proxies.
func TestBreakersOfALargePoolFitIntoMemory(t *testing.T) {
	const count, limit = 10_000, 640
	breakers := make([]*breaker.Breaker, count)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range breakers {
		breakers[i] = breaker.New(breaker.DefaultSettings(), nil)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := (after.HeapAlloc - before.HeapAlloc) / count; each > limit {
		t.Errorf("a breaker takes %d bytes, want at most %d", each, limit)
	}
	runtime.KeepAlive(breakers)
}

func TestAttemptsAndChecksDoNotAllocate(t *testing.T) {
	b := breaker.New(breaker.DefaultSettings(), func() float64 { return 0.5 })
	now := start
	step := func(o breaker.Outcome) {
		if p, _, ok := b.Acquire(now, lease); ok {
			b.Report(p, breaker.Verdict{Outcome: o}, now)
		}
		b.Ready(now)
		b.Factor(now)
		b.State(now)
		b.RetryAfter(now)
		now = now.Add(7 * time.Second)
	}
	all := func() {
		for o := breaker.Success; o <= breaker.Ignored; o++ {
			for range 9 {
				step(o)
			}
		}
		if p, _, ok := b.Acquire(now, lease); ok {
			b.Report(p, suspected, now)
		}
	}
	if n := testing.AllocsPerRun(100, all); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
