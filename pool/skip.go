package pool

// Skip is why a proxy is passed over, for metrics and to explain a pick. The
// zero value is InUse: it is not.
type Skip uint8

// The reasons.
const (
	InUse     Skip = iota
	Drained        // its weight is 0
	Mismatch       // it is not what the client asked for
	Paused         // the operator took it out
	Open           // its breaker rests, or is being tested
	Overdue        // too many of its attempts have no answer yet
	Full           // max_in_flight
	OverRate       // rate
	Banned         // for this target
	Tried          // in this exchange
	InSegment      // its segment rests, or has had its share
	Gone           // no longer on the list, or no longer what was asked for
	skips          // how many there are
)

var skipNames = [skips]string{
	"in_use", "drained", "mismatch", "paused", "open", "overdue", "full", "over_rate", "banned", "tried", "segment", "gone",
}

// String returns the word that metrics and the API use.
func (s Skip) String() string { return skipNames[s] }

// Skips returns how often members were passed over for each reason, while a
// proxy was looked for among those in use. It is indexed by Skip.
func (p *Pool) Skips() (counts [skips]uint64) {
	for i := range counts {
		counts[i] = p.skipped[i].Load()
	}
	return counts
}
