// Package budget limits what is done on top of the ordinary work, such as
// retries: by a share of the work and by a rate, whichever is more, so that an
// outage does not multiply the traffic and a quiet hour does not forbid the
// one retry that is needed.
//
// A Budget is safe for concurrent use. Earning, which every unit of work does,
// is one atomic addition. Times may come in any order: who looks at the clock and
// then has to wait for a processor is late, and brings no time twice.
//
//	b := budget.New(0.2, 10, 500, time.Now())
//	b.Earn()
//	if failed && b.Spend(time.Now()) {
//		retry()
//	}
package budget

import (
	"sync"
	"sync/atomic"
	"time"
)

// Budget is a token bucket that is filled by work and by time. The zero value
// never gives anything.
type Budget struct {
	perUnit   float64
	perSecond float64
	capacity  float64

	work atomic.Uint64 // units earned

	mu     sync.Mutex
	tokens float64
	seen   uint64 // of work
	at     time.Time
}

// New returns a budget that is full: it gains perUnit tokens for each Earn and
// perSecond a second, and holds capacity at most.
func New(perUnit, perSecond, capacity float64, now time.Time) *Budget {
	return &Budget{perUnit: perUnit, perSecond: perSecond, capacity: capacity, tokens: capacity, at: now}
}

// Earn counts a unit of work.
func (b *Budget) Earn() { b.work.Add(1) }

// Spend takes a token if there is a whole one.
func (b *Budget) Spend(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(now)
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// GiveBack returns a token that was spent on what was not done after all.
func (b *Budget) GiveBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.capacity, b.tokens+1)
}

// Take takes a token also if there is none: then it is owed. It is for what has
// begun already, because several saw the same last token.
func (b *Budget) Take(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(now)
	b.tokens--
}

// SetRate changes how much a second brings, and how much is held at most.
func (b *Budget) SetRate(perSecond, capacity float64, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(now)
	b.perSecond, b.capacity = perSecond, capacity
	b.tokens = min(b.tokens, capacity)
}

// PerSecond is how much a second brings.
func (b *Budget) PerSecond() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.perSecond
}

// Tokens returns how many there are; less than none if some are owed.
func (b *Budget) Tokens(now time.Time) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(now)
	return b.tokens
}

func (b *Budget) fill(now time.Time) {
	work := b.work.Load()
	gained := float64(work-b.seen) * b.perUnit
	b.seen = work
	if passed := now.Sub(b.at).Seconds(); passed > 0 {
		gained += passed * b.perSecond
		b.at = now
	}
	b.tokens = min(b.capacity, b.tokens+gained)
}
