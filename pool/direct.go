package pool

import (
	"time"

	"swivel/breaker"
)

// newDirect returns what stands for no proxy at all. It is no member: nobody
// picks it, and nothing is counted for it or against it.
func newDirect() *Proxy {
	spec := &Spec{Scheme: Direct, Name: "direct"}
	direct, b := newProxy("direct", spec)
	b.Begin(breaker.DefaultSettings(), nil)
	return direct
}

// Direct leases the way without a proxy, for who has been told to rather show
// this machine's own address than not to serve.
func (x *Exchange) Direct(now time.Time) *Lease {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pool.direct.inFlight.Add(1)
	return x.lease(grant{proxy: x.pool.direct}, now)
}
