// Package breaker is the circuit breaker of one upstream proxy: it decides,
// from what attempts said about the proxy, whether the next attempt may use it.
//
// It exists so that a proxy that fails is left alone for a while, is then
// tested by one attempt at a time, and comes back once it has proved itself.
// It is a pure state machine: no I/O, no timers, no goroutines, no logging and
// no clock of its own. The caller passes the time and gets back what changed.
//
//	closed ──run, rate, slow, refused, throttled──► open ──rest over──► half_open
//	   ▲                                             ▲                  │     │
//	   │                                             └──probe failed────┘     │
//	   └──────────────────enough probes in a row succeeded────────────────────┘
//
// Transitions are lazy: a rest that is over becomes half_open when the next
// Acquire finds it over, a lost probe counts as failed when the next call finds
// its lease expired. Nothing therefore gets stuck and nothing has to be stopped.
//
// A Breaker may be used by many goroutines; every method holds one mutex for
// some tens of nanoseconds, except Ready, Resting and Factor, and Acquire while
// the breaker is closed, which take no lock. None of these, nor Report,
// allocates, but for the report of the first failure.
//
//	b := breaker.New(breaker.DefaultSettings(), rand.Float64)
//	permit, effect, ok := b.Acquire(time.Now(), 15*time.Second)
//	store(effect) // a refusal can have an effect too
//	if !ok {
//		return tryAnotherProxy()
//	}
//	effect = b.Report(permit, breaker.Verdict{Outcome: attempt()}, time.Now())
//	store(effect)
//
// Pass times as time.Now returns them: their monotonic reading is what keeps
// rests right when the wall clock is set.
package breaker

import (
	"sync"
	"time"
)

// Breaker is the machine of one proxy. The zero value is not usable: call New
// or Restore, or its methods Begin or Resume. A Breaker must not be copied.
type Breaker struct {
	published published // first: those who pick among many touch little else

	mu sync.Mutex
	m  machine
}

// New returns a closed breaker without a history.
//
// A setting that Settings.Validate objects to is replaced by its default (a
// MaxOpenTimeout below OpenTimeout by OpenTimeout), since a forgotten field must
// not make a breaker that never opens or never closes. The zero Settings are
// the defaults.
//
// random yields numbers in [0, 1) for the jitter, as rand.Float64 does; nil
// stands for no jitter. It is called under the breaker's lock and must not call
// the breaker; shared between breakers it must be safe for concurrent use.
func New(s Settings, random func() float64) *Breaker {
	b := new(Breaker)
	b.Begin(s, random)
	return b
}

// Begin makes what New returns of a zero Breaker: one that is part of something
// larger, so that a large pool has fewer and closer things to look at. Nobody
// else may use it before.
func (b *Breaker) Begin(s Settings, random func() float64) {
	b.m = newMachine(s.repaired(), random)
	b.published.begin(b.m.generation)
}

// Acquire asks for the right to try the proxy once, now. If it is granted, the
// permit has to be reported exactly once, as soon as the fate of the attempt is known.
//
// Closed grants everyone, open nobody. An open breaker whose rest is over
// becomes half_open and grants one probe; there is never more than one. A probe
// that is not reported within lease, counted from now, has failed; a lease that
// is not more than 0 fails at once. Permits of a closed breaker have no lease.
//
// The effect is to be looked at whether or not the permit was granted: it tells
// of the transition to half_open, and of a probe whose lease had expired.
func (b *Breaker) Acquire(now time.Time, lease time.Duration) (Permit, Effect, bool) {
	if g := b.published.pass.Load(); g != 0 {
		return Permit{generation: g}, Effect{}, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n, e := b.m.begin(now)
	p, ok := b.m.acquire(lease, n, &e)
	b.publish(n)
	return p, e, ok
}

// Report tells what came of the attempt that p allowed. Once the breaker has
// moved on, or p was a probe whose lease has expired, the result is stale.
//
// A suspected failure counts for less. On a closed breaker as many suspicions
// as make a run of failures, without a success in between, open it by RuleRun;
// failures do not reset them, nor add to them, and the window does not count
// them. A suspect probe re-opens the breaker for the rest of its last failure
// again, not for a longer one.
func (b *Breaker) Report(p Permit, v Verdict, now time.Time) Effect {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, e := b.m.begin(now)
	switch {
	case !b.m.honours(p):
		e.Stale = true
	case p.probe:
		b.m.judgeProbe(v, n, &e)
	default:
		b.m.judgeClosed(v, n, &e)
	}
	b.publish(n)
	return e
}
