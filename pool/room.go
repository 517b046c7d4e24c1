package pool

import (
	"math"
	"sync/atomic"
	"time"

	"swivel/pool/budget"
)

// What a line allows its proxy: so many exchanges at once (max_in_flight), and
// so many a second (rate). Neither says anything about the proxy's health.

// usage is how a proxy is used. It is safe for concurrent use, and outlives
// every reload: what is under way goes on.
type usage struct {
	inFlight atomic.Int32
	// overdue counts its attempts that have been waiting for longer than is
	// usual, on targets that others reach.
	overdue   atomic.Int32
	picks     atomic.Uint64
	firstByte ewma // of the targets reached through it
	// limiter is nil without a rate, as nearly always.
	limiter atomic.Pointer[budget.Budget]
}

// Overdue says that the proxy is not picked because too many of its attempts have
// no answer yet, until one is decided.
func (u *usage) Overdue() bool { return int(u.overdue.Load()) >= overdueLimit }

// setRate puts the line's rate in force. The bucket holds what one second
// allows, at least one.
func (u *usage) setRate(perSecond float64, now time.Time) {
	burst := max(1, math.Ceil(perSecond))
	switch l := u.limiter.Load(); {
	case perSecond == 0:
		u.limiter.Store(nil)
	case l == nil:
		u.limiter.Store(budget.New(0, perSecond, burst, now))
	case l.PerSecond() != perSecond:
		l.SetRate(perSecond, burst, now)
	}
}

// room says whether the proxy may be used once more, and if not, why.
func (m *Proxy) room(now time.Time) Skip {
	if m.most > 0 && m.inFlight.Load() >= m.most {
		return Full
	}
	if l := m.limiter.Load(); l != nil && l.Tokens(now) < 1 {
		return OverRate
	}
	return InUse
}

// enter takes the room for one use; false when there is none.
func (m *Proxy) enter(now time.Time) bool {
	n := m.inFlight.Add(1)
	l := m.limiter.Load()
	if m.most > 0 && n > m.most || l != nil && !l.Spend(now) {
		m.inFlight.Add(-1)
		return false
	}
	return true
}

// roomAfter is how long until the proxy may be used once more, as far as that
// can be told: who is full may have room at any time.
func (m *Proxy) roomAfter(now time.Time) time.Duration {
	switch m.room(now) {
	case Full:
		return shortly
	case OverRate:
		l := m.limiter.Load()
		left := (1 - l.Tokens(now)) / l.PerSecond() * float64(time.Second)
		return time.Duration(min(max(0, left), float64(never)))
	}
	return 0
}

// InFlight is how many exchanges use the proxy now.
func (p *Proxy) InFlight() int { return int(p.inFlight.Load()) }

// Picks is how often the proxy has been picked since the daemon started.
func (p *Proxy) Picks() uint64 { return p.picks.Load() }

// Latency is the usual time to the first byte of a target, by the last ten or
// so; 0 while unknown.
func (p *Proxy) Latency() time.Duration {
	return time.Duration(p.firstByte.seconds() * float64(time.Second))
}

// Usable says whether the proxy can be picked now, as far as its breaker, the
// operator and its own black holes are concerned.
func (p *Proxy) Usable() bool { return p.usable() }

// EffectiveWeight is what the proxy is picked by now: its weight by list, less
// while it is new to its work again or flaky, 0 while it is not in use.
func (p *Proxy) EffectiveWeight(now time.Time) float64 {
	if !p.Usable() {
		return 0
	}
	return p.Spec.Weight * p.breaker.Load().Factor(now)
}

// Release says that the attempt's connection is no longer used. It is to be
// called once the tunnel or the response has ended, whatever the verdict was and
// whenever it fell; calling it again does nothing.
func (l *Lease) Release() {
	if l.released.CompareAndSwap(false, true) {
		l.Proxy.inFlight.Add(-1)
		if l.Proxy.most > 0 {
			l.pool.Free()
		}
	}
}

// Freed gets something when a proxy may have become free to be picked, for one
// of those who wait for that.
func (p *Pool) Freed() <-chan struct{} { return p.freed }

// Free is to be called by who got something from Freed and found a proxy: there
// may be more.
func (p *Pool) Free() {
	select {
	case p.freed <- struct{}{}:
	default:
	}
}
