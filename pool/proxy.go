package pool

import (
	"math"
	"sync/atomic"
	"time"

	"swivel/breaker"
)

// Proxy is a member of the pool: what its list says, and its breaker. A reload
// leaves it alone if its list says the same as before, and else makes a new
// Proxy around the same runtime state when the identity is the same.
type Proxy struct {
	ID   ID
	Spec *Spec
	*runtime
	segment *segment // nil: none
	most    int32    // Spec.MaxInFlight, where a pick has it at hand
}

// runtime is what outlives a reload. The fields are in an order that wastes
// nothing: there may be a hundred thousand.
type runtime struct {
	breaker atomic.Pointer[breaker.Breaker] // another one when a reload sets other limits
	usage

	lastSuccess atomic.Int64 // unix nanoseconds, 0: never
	// paused is why the operator took it out of use, nil if nobody did. It wins
	// over everything.
	paused  atomic.Pointer[Pause]
	charges *charges // nil: none. Guarded by Pool.blameMu

	place int32 // in the resting queue, counted from 1; 0: not in it. Guarded by resting.mu
	marks marks
}

// marks are what is to be known of a proxy by yes or no.
type marks struct{ bits atomic.Uint32 }

const (
	// lastFailed: the last decided outcome was no success.
	lastFailed = 1 << iota
	// failedTunnel: the last thing held against the proxy happened after its 2xx;
	// then a 2xx alone does not clear it.
	failedTunnel
	// blemished: doubted or denied hold something. Without it a success takes no
	// lock.
	blemished
)

func (m *marks) has(mark uint32) bool { return m.bits.Load()&mark != 0 }

func (m *marks) set(mark uint32) { m.bits.Or(mark) }

// clear writes nothing if there is nothing to clear.
func (m *marks) clear(mark uint32) {
	if m.has(mark) {
		m.bits.And(^mark)
	}
}

// joined is a Proxy as it joins the pool: in one piece, since a pick among many
// pays for each place in memory that it has to look at.
type joined struct {
	Proxy
	runtime
	breaker breaker.Breaker
}

// atMost is what max_in_flight says, in half of the size.
func atMost(s *Spec) int32 { return int32(min(s.MaxInFlight, math.MaxInt32)) }

// newProxy returns a proxy whose breaker nobody has begun yet.
func newProxy(id ID, spec *Spec) (*Proxy, *breaker.Breaker) {
	j := &joined{Proxy: Proxy{ID: id, Spec: spec, most: atMost(spec)}}
	j.Proxy.runtime = &j.runtime
	j.runtime.breaker.Store(&j.breaker)
	return &j.Proxy, &j.breaker
}

// charges are what is held against a proxy. Most never have any.
type charges struct {
	// The targets are those since the last success.
	doubted targetSet // on which its attempts ended in doubt
	denied  targetSet // which it refused to serve
	doubts  doubts    // in a row
	samples samples   // these outlive a success
}

// charge returns the charges to add to. blameMu is held.
func (r *runtime) charge() *charges {
	if r.charges == nil {
		r.charges = new(charges)
	}
	return r.charges
}

// charged returns the charges to look at. blameMu is held.
func (r *runtime) charged() charges {
	if r.charges == nil {
		return charges{}
	}
	return *r.charges
}

// Breaker is the proxy's breaker, for showing and storing its state.
func (p *Proxy) Breaker() *breaker.Breaker { return p.breaker.Load() }

func (r *runtime) workedLately(now time.Time) bool {
	last := r.lastSuccess.Load()
	return last != 0 && now.UnixNano()-last <= int64(workedWithin)
}

// credible says whether the proxy's word against a target counts: what was last
// decided of it was a success, and nothing else is held against it.
func (r *runtime) credible(k targetKey) bool {
	doubted := r.charged().doubted
	return r.lastSuccess.Load() != 0 && !r.marks.has(lastFailed) && doubted.onlyHas(k)
}

// permits are what an attempt holds of the breakers that it will report to.
type permits struct {
	own, segment breaker.Permit
}

// probe says whether the attempt decides about something that rests.
func (p permits) probe() bool { return p.own.Probe() || p.segment.Probe() }

// usable says whether the proxy may be drawn at all, whoever asks.
func (r *runtime) usable() bool {
	return !r.breaker.Load().Resting() && r.paused.Load() == nil && !r.Overdue()
}

// Lease is the right to use a proxy for one attempt. It is settled exactly
// once through the Exchange that gave it, and released when its connection is
// no longer used.
type Lease struct {
	Proxy *Proxy
	// Spec is the proxy's, with the placeholders of its credentials filled: what
	// the attempt is to use.
	Spec    *Spec
	permit  permits
	Started time.Time

	request string
	pool    *Pool

	// Of an exchange that belongs to a session: whose that was, and why it left.
	home ID
	left Skip
	// Probe is set when the attempt decides about a resting proxy or segment.
	Probe      bool
	redirected bool // made after its exchange was sent away by a segment

	// Guarded by Exchange.mu.
	settled  bool
	answered bool // its verdict may come later
	overdue  bool
	counted  bool  // as overdue, by the proxy
	index    int32 // into the exchange's attempts

	released atomic.Bool
}

// Request is the id of the exchange that the lease belongs to.
func (l *Lease) Request() string { return l.request }
