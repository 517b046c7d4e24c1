package pool

import (
	"sync/atomic"
	"time"

	"swivel/breaker"
)

// Proxy is a member of the pool: what its list says, and its breaker. A reload
// makes a new Proxy around the same runtime state when the identity is the
// same.
type Proxy struct {
	ID   ID
	Spec *Spec
	*runtime
	segment *segment // nil: none
	index   int32    // in its snapshot
	most    int32    // Spec.MaxInFlight, where a pick has it at hand
}

// runtime is what outlives a reload.
type runtime struct {
	breaker atomic.Pointer[breaker.Breaker] // another one when a reload sets other limits
	usage

	lastSuccess atomic.Int64 // unix nanoseconds, 0: never
	lastFailed  atomic.Bool  // the last decided outcome was no success
	// failedTunnel says that the last thing held against the proxy happened
	// after its 2xx: then a 2xx alone does not clear it.
	failedTunnel atomic.Bool
	// paused is why the operator took it out of use, nil if nobody did. It wins
	// over everything.
	paused atomic.Pointer[Pause]
	// overdue counts its attempts that have been waiting for longer than is
	// usual, on targets that others reach.
	overdue atomic.Int32
	// blemished is set while doubted or denied hold anything, so that a success
	// takes no lock otherwise.
	blemished atomic.Bool

	place int // in the resting queue, counted from 1; 0: not in it. Guarded by resting.mu

	charges *charges // nil: none. Guarded by Pool.blameMu
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
	return r.lastSuccess.Load() != 0 && !r.lastFailed.Load() && doubted.onlyHas(k)
}

// permits are what an attempt holds of the breakers that it will report to.
type permits struct {
	own, segment breaker.Permit
}

// probe says whether the attempt decides about something that rests.
func (p permits) probe() bool { return p.own.Probe() || p.segment.Probe() }

// usable says whether the proxy may be drawn at all, whoever asks.
func (r *runtime) usable() bool {
	return !r.breaker.Load().Resting() && r.paused.Load() == nil && int(r.overdue.Load()) < overdueLimit
}

// Lease is the right to use a proxy for one attempt. It is settled exactly
// once through the Exchange that gave it, and released when its connection is
// no longer used.
type Lease struct {
	Proxy *Proxy
	// Spec is the proxy's, with the placeholders of its credentials filled: what
	// the attempt is to use.
	Spec   *Spec
	permit permits
	// Probe is set when the attempt decides about a resting proxy or segment.
	Probe   bool
	Started time.Time

	request  string
	released atomic.Bool
	pool     *Pool

	// Of an exchange that belongs to a session: whose that was, and why it left.
	home ID
	left Skip

	// Guarded by Exchange.mu.
	settled bool
	overdue bool
	counted bool // as overdue, by the proxy
	index   int  // into the exchange's attempts

	redirected bool // made after its exchange was sent away by a segment
}

// Request is the id of the exchange that the lease belongs to.
func (l *Lease) Request() string { return l.request }
