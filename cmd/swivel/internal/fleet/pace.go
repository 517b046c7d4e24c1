package fleet

import "time"

// The times of the policy. All are promises to be read in docs/fleet.md.
const (
	// beat is how often an instance that has nothing to say looks for news, and
	// keeps its leases.
	beat = 500 * time.Millisecond
	// batch is how long the first news waits for others.
	batch = 30 * time.Millisecond
	// tallyEvery is how often successes are told of proxies that failed lately.
	tallyEvery = time.Second
	// aloneAfter is how long the hub may be silent until no leases are needed.
	aloneAfter = time.Second
	// leaseFor is when the lease of an instance that has died lapses.
	leaseFor = 5 * time.Second
	// leaseAhead is how long before the end of a rest its lease is fetched.
	leaseAhead = time.Second
	// holdFirst is how long a lease is kept at first that nobody uses, and
	// holdMost at most, when it has lapsed unused again and again.
	holdFirst, holdMost = 3 * time.Second, 5 * time.Minute
	// refusedFor is how long an instance does not ask again for a lease that
	// another one has.
	refusedFor = 500 * time.Millisecond
	// maxSkew is how far a clock may be off before somebody should mend it.
	maxSkew = 5 * time.Second
)

// Pace is how much an instance may ask of the hub, so that all of them together
// do not ask too much.
type Pace struct {
	Gap     time.Duration // between two calls
	Known   int           // proxies told in one call
	Answers int           // changes returned by one call
}

// The hub's share: about as much as a single Redis does with a quarter of a core.
const (
	callsPerSecond = 2000
	knownPerSecond = 20_000
)

// PaceOf is the pace of each of so many instances.
func PaceOf(instances int) Pace {
	n := max(instances, 1)
	gap := min(max(time.Duration(n)*time.Second/callsPerSecond, 50*time.Millisecond), beat)
	known := int(float64(knownPerSecond) * gap.Seconds() / float64(n))
	return Pace{Gap: gap, Known: min(max(known, 8), 256), Answers: 256}
}
