package breaker

import (
	"math"
	"sync/atomic"
	"time"
)

// leastRamp is the factor at the beginning of a slow start.
const leastRamp = 0.1

// published repeats, for those who pick, what they have to know of every
// breaker at every pick. They take no lock. Reading one value of a report and
// one of the next is harmless: either holds.
type published struct {
	gate  atomic.Int64 // before this instant Acquire refuses: never, if it is closed
	ramp  atomic.Int64 // when the slow start began: never if it is over, notYet while resting
	until atomic.Int64 // health.until
	now   atomic.Int64 // health.now, as its bits
	later atomic.Int64 // health.later, as its bits
	// pass is the generation of the permits that everybody gets; 0 while not
	// everybody does. What time alone does to a closed breaker can wait for the
	// next report.
	pass atomic.Uint32
}

// notYet is the beginning of a slow start that is still to come: after all
// other instants.
const notYet instant = math.MaxInt64

// Factor returns what the weight of the proxy is to be multiplied with when one
// is picked: more than 0 and at most 1, lock-free. It is the product of
//
//   - slow start: after closing from 0.1 to 1, evenly over Settings.SlowStart;
//     for a resting proxy it is 0.1;
//   - health: 1 while at least nine of ten succeed, else the ratio of successes,
//     at least 0.1. It looks at the window or the last five outcomes, whichever
//     are more. For a proxy that has never succeeded it is instead 0.3 after
//     the first failure, 0.1 after the second and 0.03 after that; with the
//     third its breaker opens, unless runs do not open it.
//
// Without new outcomes health follows the window only when that no longer holds
// more than five of them, at most Settings.Window later.
func (b *Breaker) Factor(now time.Time) float64 {
	p := &b.published
	ramp, until := instant(p.ramp.Load()), instant(p.until.Load())
	if ramp == never && until == never {
		return math.Float64frombits(uint64(p.now.Load()))
	}
	at := instantOf(now)
	bits := p.now.Load()
	if until != never && at >= until {
		bits = p.later.Load()
	}
	return math.Float64frombits(uint64(bits)) * b.m.settings.Value().ramped(ramp, at)
}

// ramped is how far a slow start has come.
func (s Settings) ramped(began, at instant) float64 {
	switch {
	case began == never:
		return 1
	case began == notYet:
		return leastRamp
	}
	done := float64(began.until(at)) / float64(s.SlowStart)
	return min(1, leastRamp+(1-leastRamp)*done)
}

// begin is for a breaker that nobody has used yet.
func (p *published) begin(generation uint32) {
	p.pass.Store(generation)
	p.update(never, never, health{now: 1, until: never, later: 1})
}

// update does not write what is unchanged, on a sound closed breaker all: the
// cache line stays with the pickers.
func (p *published) update(gate, ramp instant, h health) {
	store(&p.now, int64(math.Float64bits(h.now)))
	store(&p.later, int64(math.Float64bits(h.later)))
	store(&p.until, int64(h.until))
	store(&p.ramp, int64(ramp))
	store(&p.gate, int64(gate))
}

func store(p *atomic.Int64, v int64) {
	if p.Load() != v {
		p.Store(v)
	}
}

func (b *Breaker) publish(n moment) {
	b.published.update(b.m.gate(), b.m.ramp(n), b.m.health(n))
	pass := uint32(0)
	if b.m.state == Closed {
		pass = b.m.generation
	}
	if b.published.pass.Load() != pass {
		b.published.pass.Store(pass)
	}
}

// ramp is when the slow start began that is still going on. A proxy that was
// restored closed continues it: the breaker closed when it last changed.
func (m *machine) ramp(n moment) instant {
	switch {
	case m.state != Closed:
		return notYet
	case n.at < m.since.add(m.settings.Value().SlowStart):
		return m.since
	}
	return never
}
