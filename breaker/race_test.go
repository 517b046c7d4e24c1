package breaker_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swivel/breaker"
)

// TestManyGoroutinesNeverShareAProbe hurries a breaker through its states from
// all sides. No lease ends within the test, so that a second probe in flight can
// only be the breaker's mistake.
func TestManyGoroutinesNeverShareAProbe(t *testing.T) {
	const workers, rounds = 64, 500
	s := breaker.DefaultSettings()
	s.OpenTimeout, s.MaxOpenTimeout, s.RefusedTimeout = time.Second, 2*time.Second, time.Second
	b := breaker.New(s, rand.Float64)
	var clock, inFlight, probes atomic.Int64
	attempt := func(now time.Time) {
		p, _, ok := b.Acquire(now, 1000*time.Hour)
		if !ok {
			return
		}
		if p.Probe() {
			probes.Add(1)
			if inFlight.Add(1) > 1 {
				t.Error("two probes in flight")
			}
			runtime.Gosched()
			inFlight.Add(-1)
		}
		if o := breaker.Outcome(rand.IntN(6)); o <= breaker.Ignored {
			b.Report(p, breaker.Verdict{Outcome: o}, now)
		} else {
			b.Report(p, suspected, now)
		}
	}
	work := func() {
		for range rounds {
			now := start.Add(time.Duration(clock.Load()))
			if !b.Ready(now) {
				clock.Add(int64(min(b.RetryAfter(now), 100*time.Millisecond)))
				b.Snapshot(now)
			}
			if f := b.Factor(now); !(f > 0 && f <= 1) {
				t.Errorf("factor %v", f)
			}
			attempt(now)
		}
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(work)
	}
	wg.Wait()
	if probes.Load() < 10 {
		t.Errorf("only %d probes: the test tests nothing", probes.Load())
	}
}

// TestFirstCallsAtTheSameTime is about those that read without the lock while
// the first call changes what they read.
func TestFirstCallsAtTheSameTime(t *testing.T) {
	for range 100 {
		b := breaker.New(breaker.DefaultSettings(), nil)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				b.Ready(start)
				b.Factor(start)
				if p, _, ok := b.Acquire(start, lease); ok {
					b.Report(p, breaker.Verdict{Outcome: breaker.Refused}, start)
				}
				if b.Ready(start) {
					t.Error("ready after a refusal")
				}
			})
		}
		wg.Wait()
	}
}
