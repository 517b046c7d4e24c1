package breaker

import "time"

// Permit is the right to try the proxy once. The zero value is no permit: its
// results are always stale. A permit belongs to the Breaker that granted it and
// does not outlive it: after Restore it is stale.
type Permit struct {
	generation uint32
	probe      bool
}

// Probe reports whether the attempt is the test of a half_open breaker.
func (p Permit) Probe() bool { return p.probe }

// Verdict is what an attempt is reported as. The zero value is a success.
type Verdict struct {
	Outcome Outcome
	// Rest is how long the proxy asked to be left alone. It matters to
	// Throttled only, is cut at Settings.MaxOpenTimeout, and stands for
	// Settings.OpenTimeout when it is not more than 0.
	Rest time.Duration
	// Latency is how long a Success took, 0 if that was not measured. It matters
	// only where there is a Settings.LatencyLimit.
	Latency time.Duration
	// Suspected says of a Failure that the target may be to blame for it, and
	// that nothing more will come to be known.
	Suspected bool
	// Alone says that no other candidate is closed. If this attempt opens the
	// breaker, its rests do not grow: nobody else could serve meanwhile.
	Alone bool
}

// Transition is one change of state.
type Transition struct {
	From, To   State
	Rule       Rule
	At         time.Time // when it took effect; for an expired lease that is before the call that found it
	Until      time.Time // To == Open: when the rest is over; else zero
	Failures   int       // failures of the run so far
	Suspicions int       // suspicions in a row so far
	Rate       float64   // share of failures in the window, 0 to 1
	Samples    int       // outcomes in the window
}

// Effect is what a call did to the breaker. The zero value is nothing.
type Effect struct {
	Transition Transition // the last one, valid when Moved
	Moved      bool       // the state changed

	// Earlier came before Transition in the same call, valid when MovedTwice:
	// a lost probe's lease had expired, and the rest after it was over too.
	Earlier    Transition
	MovedTwice bool

	// Changed says that something changed for which the state is worth storing
	// again; it is always true when Moved. A success that ends no run and is not the
	// first of all does not set it: the stored window is as of the last failure
	// or of the success after it.
	Changed bool
	Stale   bool // the permit was of an older generation: its result changed nothing
}

// Transitions yields the transitions of the call in the order they happened:
//
//	for t := range effect.Transitions {
//		log(t)
//	}
func (e Effect) Transitions(yield func(Transition) bool) {
	if e.MovedTwice && !yield(e.Earlier) {
		return
	}
	if e.Moved {
		yield(e.Transition)
	}
}

func (e *Effect) record(t Transition) {
	if e.Moved {
		e.Earlier, e.MovedTwice = e.Transition, true
	}
	e.Transition, e.Moved, e.Changed = t, true, true
}
