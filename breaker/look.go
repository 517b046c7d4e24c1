package breaker

import "time"

// The methods here only look. An expired lease is taken into account without
// being settled, since there is nobody to hand the transition to: the next
// Acquire or Report returns it.

// Ready reports whether it is worth calling Acquire: false only if Acquire
// would surely refuse now. It takes no lock, so that a picker can skip open
// proxies cheaply; true is no promise.
func (b *Breaker) Ready(now time.Time) bool {
	g := instant(b.published.gate.Load())
	return g == never || instantOf(now) >= g
}

// Resting reports, without a lock, whether the breaker is anything but closed:
// then a granted Acquire is a probe.
func (b *Breaker) Resting() bool { return instant(b.published.gate.Load()) != never }

// State returns the state that the breaker is in. A rest that is over does not
// change it: only Acquire makes an open breaker half_open. See Due.
func (b *Breaker) State(now time.Time) State {
	m, _ := b.look(now)
	return m.state
}

// Due reports whether Acquire would now grant a probe: the breaker is open and
// its rest is over, or half_open and nothing is in flight.
func (b *Breaker) Due(now time.Time) bool {
	m, n := b.look(now)
	return m.state != Closed && m.wait(n) == 0
}

// RetryAfter returns how long Acquire is going to refuse: 0 if it would not
// refuse now, the rest that is left if the breaker is open. While a probe is in
// flight it is the time left of its lease; its verdict may come sooner, and may
// be another rest.
func (b *Breaker) RetryAfter(now time.Time) time.Duration {
	m, n := b.look(now)
	return m.wait(n)
}

// look returns a copy of the machine as it is now.
func (b *Breaker) look(now time.Time) (machine, moment) {
	b.mu.Lock()
	m := b.m
	b.mu.Unlock()
	n, _ := m.begin(now)
	return m, n
}

// wait is the time until gate. A probe in flight keeps it above 0, since begin
// has dealt with a lease that is over.
func (m *machine) wait(n moment) time.Duration {
	return n.at.until(m.gate())
}
