package pool

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// Strategy is how the proxy of an attempt is chosen among those that are usable.
// All of them follow the weights. The zero value is Weighted.
type Strategy uint8

// The strategies.
const (
	// Weighted draws at random.
	Weighted Strategy = iota
	// RoundRobin gives turns, evenly spread.
	RoundRobin
	// LeastInFlight draws two and takes the one with fewer exchanges under way,
	// measured by its weight (M. Mitzenmacher, "The power of two choices in
	// randomized load balancing", 2001).
	LeastInFlight
	// Fastest draws two and takes the one whose targets answered sooner lately.
	// So nobody gets more than twice the share of its weight, and the slow ones
	// are still looked at.
	Fastest
)

var strategyNames = [...]string{"weighted", "round-robin", "least-inflight", "fastest"}

// String returns the name that the configuration uses.
func (s Strategy) String() string { return strategyNames[s] }

// UnmarshalText reads the name.
func (s *Strategy) UnmarshalText(text []byte) error {
	for i, name := range strategyNames {
		if string(text) == name {
			*s = Strategy(i)
			return nil
		}
	}
	return fmt.Errorf("want weighted, round-robin, least-inflight or fastest")
}

// MarshalText is the reverse of UnmarshalText.
func (s Strategy) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// propose returns the member to try next, as the strategy has it; nil if luck
// did not find one.
func (x *Exchange) propose(v *view, now time.Time) *Proxy {
	switch x.pool.options.Strategy {
	case RoundRobin:
		return v.turns.next(now, v.tree.has, func(m *Proxy) bool { return x.skip(v, m, now) == InUse })
	case LeastInFlight:
		return better(x.candidate(v, now), x.candidate(v, now), (*Proxy).load)
	case Fastest:
		return better(x.candidate(v, now), x.candidate(v, now), (*Proxy).speed)
	}
	return x.candidate(v, now)
}

// better is the one of two with the lower mark, the first if they have the same
// or one of them has none.
func better(a, b *Proxy, mark func(*Proxy) float64) *Proxy {
	if a == nil || b == nil || !(mark(b) < mark(a)) {
		return a
	}
	return b
}

// load is what is under way, by weight.
func (m *Proxy) load() float64 { return float64(m.inFlight.Load()) / m.Spec.Weight }

// speed is the usual time to the first byte, in seconds; NaN while unknown.
func (m *Proxy) speed() float64 {
	if s := m.firstByte.seconds(); s > 0 {
		return s
	}
	return math.NaN()
}

// Answered notes how long the target took to begin an answer, where that is no
// part of the verdict on the proxy: a plain response takes as long as its target
// needs for it, but who is chosen for being fast may be chosen by it.
func (l *Lease) Answered(took time.Duration) { l.Proxy.firstByte.add(took) }

// ewma is an exponentially weighted moving average of times. It is safe for
// concurrent use; the zero value knows nothing.
type ewma struct{ bits atomic.Uint64 }

// newest is the part of an average that the latest value makes up: the last ten
// make up nine tenths of it.
const newest = 0.2

func (e *ewma) add(d time.Duration) {
	for {
		old := e.bits.Load()
		next := d.Seconds()
		if old != 0 {
			next = math.Float64frombits(old) + newest*(next-math.Float64frombits(old))
		}
		if e.bits.CompareAndSwap(old, math.Float64bits(next)) {
			return
		}
	}
}

// seconds is the average; 0 while there is none.
func (e *ewma) seconds() float64 { return math.Float64frombits(e.bits.Load()) }
