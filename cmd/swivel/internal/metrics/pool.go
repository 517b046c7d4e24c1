package metrics

import (
	"time"

	"swivel/breaker"
	"swivel/pool"
)

const (
	// mostProxies is up to how many each has a series of its own.
	mostProxies = 1000
	// mostSegments bounds the series of a list in which every line is a segment.
	mostSegments = 1000
)

// stateValue is the number of a state: worse is more.
var stateValue = [...]float64{breaker.Closed: 0, breaker.HalfOpen: 1, breaker.Open: 2}

func (m *Metrics) collectPool(out output, now time.Time) {
	members := m.sources.Pool.Proxies()
	counts := map[string]*[len(states)]float64{}
	paused, carried := 0.0, 0
	for _, p := range members {
		state := p.Breaker().State(now)
		if len(members) <= mostProxies {
			out.gauge(breakerState, stateValue[state], string(p.ID))
		}
		carried += p.InFlight()
		if p.Paused() != nil {
			paused++
		}
		counted(counts, pool.SegmentName(p.Spec))[state]++
	}
	for segment, n := range counts {
		for state, n := range n {
			out.gauge(poolProxies, n, segment, breaker.State(state).String())
		}
	}
	out.gauge(pausedProxies, paused)
	out.gauge(inFlight, float64(carried))
	out.gauge(sessions, float64(m.sources.Pool.Sessions()))
}

func counted(counts map[string]*[len(states)]float64, segment string) *[len(states)]float64 {
	if counts[segment] == nil && len(counts) >= mostSegments {
		segment = ""
	}
	if counts[segment] == nil {
		counts[segment] = new([len(states)]float64)
	}
	return counts[segment]
}
