// Package pool holds the upstream proxies and decides two things: which of
// them gets the next attempt, and what an attempt's end says about the proxy
// that made it.
//
// A [Pool] is an immutable snapshot of members behind an atomic pointer; a
// pick is a weighted random draw among the members whose breaker lets an
// attempt through. An [Exchange] is one client request: it hands out leases on
// proxies not tried yet, collects the signals of its attempts and turns them
// into outcomes once enough is known to tell a proxy's fault from a target's.
//
// Nothing here does I/O, logs, or reads a clock: time comes in as an argument,
// and what changed is returned as [Event] values for the caller to store and
// log. A Pool is safe for concurrent use, an Exchange belongs to one goroutine
// at a time.
//
//	x := p.Begin("example.org:443")
//	lease, ok := x.Next(time.Now(), 20*time.Second)
//	...
//	store(x.Reached(lease, pool.FirstByte, time.Now()))
package pool
