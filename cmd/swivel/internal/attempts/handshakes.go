package attempts

import (
	"slices"
	"sync/atomic"
	"time"
)

// The bounds of the hedge delay when it follows the handshakes: below the first
// it would double the traffic of a pool whose proxies are equally quick, above
// the second nobody would want to wait.
const (
	leastHedge   = 250 * time.Millisecond
	mostHedge    = 3 * time.Second
	unknownHedge = 2 * time.Second // until there are enough
)

// handshakes remembers how long recent ones took. It is safe for concurrent
// use; the zero value is empty.
type handshakes struct {
	ring [256]atomic.Int64 // nanoseconds
	n    atomic.Uint64
	p95  atomic.Int64
}

// recompute is how many new handshakes there are between two looks at them.
const recompute = 32

func (h *handshakes) add(took time.Duration) {
	n := h.n.Add(1)
	h.ring[(n-1)%uint64(len(h.ring))].Store(int64(took))
	if n%recompute == 0 {
		h.p95.Store(h.quantile(min(int(n), len(h.ring))))
	}
}

// quantile is the 95th percentile of the first n.
func (h *handshakes) quantile(n int) int64 {
	sorted := make([]int64, n)
	for i := range sorted {
		sorted[i] = h.ring[i].Load()
	}
	slices.Sort(sorted)
	return sorted[n*95/100]
}

// hedgeAfter is how long a handshake may take before another proxy is asked.
func (l *Loop) hedgeAfter() time.Duration {
	if l.Settings.HedgeAfter > 0 {
		return l.Settings.HedgeAfter
	}
	p95 := time.Duration(l.recent.p95.Load())
	if p95 == 0 {
		return unknownHedge
	}
	return min(max(p95, leastHedge), mostHedge)
}
