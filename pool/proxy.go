package pool

import (
	"sync/atomic"

	"swivel/breaker"
)

// Proxy is a member of the pool: what its list says, and its breaker. A reload
// makes a new Proxy around the same runtime state when the identity is the
// same.
type Proxy struct {
	ID   ID
	Spec *Spec
	*runtime
}

// runtime is what outlives a reload.
type runtime struct {
	breaker *breaker.Breaker
	// failedTunnel says that the last thing held against the proxy happened
	// after its 2xx: then a 2xx alone does not clear it.
	failedTunnel atomic.Bool
}

// Breaker is the proxy's breaker, for showing and storing its state.
func (p *Proxy) Breaker() *breaker.Breaker { return p.breaker }

// Lease is the right to use a proxy for one attempt. It is settled exactly
// once through the Exchange that gave it.
type Lease struct {
	Proxy  *Proxy
	permit breaker.Permit
	// Probe is set when the attempt decides about a resting proxy.
	Probe   bool
	settled bool
	index   int // into the exchange's attempts
}
