package fleet

import "time"

// Times are those of the policy, and the hub's share. All are promises to be read
// in docs/fleet.md; docs/simulation.md says why they are what they are. Nothing
// configures them, but the simulation tries others. The zero value stands for
// DefaultTimes.
type Times struct {
	// Beat is how often an instance that has nothing to say looks for news, and
	// keeps its leases.
	Beat time.Duration
	// Batch is how long the first news waits for others.
	Batch time.Duration
	// Tally is how often successes are told of proxies that failed lately.
	Tally time.Duration
	// AloneAfter is how long the hub may be silent until no leases are needed: for
	// longer than one call may take, or all test everything when one gets lost.
	AloneAfter time.Duration
	// LeaseFor is when the lease of an instance that has died lapses.
	LeaseFor time.Duration
	// LeaseAhead is how long before the end of a rest its lease is fetched.
	LeaseAhead time.Duration
	// HoldFirst is how long a lease is kept at first that nobody uses, and
	// HoldMost at most, when it has lapsed unused again and again.
	HoldFirst, HoldMost time.Duration

	// What all instances together ask of the hub in a second: calls, proxies told,
	// and changes returned, of which each instance gets each.
	Calls, Known, Answers int
}

// DefaultTimes returns those that are in use.
func DefaultTimes() Times {
	return Times{
		Beat: 500 * time.Millisecond, Batch: 30 * time.Millisecond, Tally: time.Second, AloneAfter: 3 * time.Second,
		LeaseFor: 5 * time.Second, LeaseAhead: time.Second, HoldFirst: 3 * time.Second, HoldMost: 5 * time.Minute,
		Calls: 5000, Known: 20_000, Answers: 200_000,
	}
}

const (
	// refusedFor is how long an instance does not ask again for a lease that
	// another one has.
	refusedFor = 500 * time.Millisecond
	// lapsedFor is how long it leaves one to others that was of no use to it.
	lapsedFor = 10 * time.Second
	// settled is how long after it asked for a lease the request is seen to end that
	// would have used it.
	settled = 2 * time.Second
	// maxSkew is how far a clock may be off before somebody should mend it.
	maxSkew = 5 * time.Second
	// shortestGap is between two calls of one instance, however small the fleet.
	shortestGap = 50 * time.Millisecond
)

// Pace is how much an instance may ask of the hub, so that all of them together
// do not ask too much.
type Pace struct {
	Gap     time.Duration // between two calls
	Known   int           // proxies told in one call
	Answers int           // changes returned by one call
}

// PaceOf is the pace of each of so many instances.
func (t Times) PaceOf(instances int) Pace {
	n := max(instances, 1)
	gap := min(max(time.Duration(n)*time.Second/time.Duration(t.Calls), shortestGap), t.Beat)
	share := gap.Seconds() / float64(n)
	part := func(all, least int) int { return min(max(int(float64(all)*share), least), 256) }
	return Pace{Gap: gap, Known: part(t.Known, 4), Answers: part(t.Answers, 32)}
}
