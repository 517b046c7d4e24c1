package pool

import (
	"math"
	"sync/atomic"
)

// everyday counts how attempts end in this pool, with this traffic: in success
// or in doubt. It is safe for concurrent use; the zero value has seen nothing.
type everyday struct {
	successes, doubts atomic.Int64
}

// doubts are a proxy's in a row, and what everyday had counted when the row
// began. The zero value is none. It is guarded by Pool.blameMu.
type doubts struct {
	row     int
	since   int64 // successes before it
	besides int64 // doubts before it
}

// doubt counts one more.
func (e *everyday) doubt(d *doubts) {
	if d.row == 0 {
		d.since, d.besides = e.successes.Load(), e.doubts.Load()
	}
	d.row++
	e.doubts.Add(1)
}

// unlikely says whether so long a row would come less than once in a thousand
// times to a proxy that does like the others did meanwhile. That takes others
// who had as many successes at least: else nothing is known of the targets.
func (e *everyday) unlikely(d doubts) bool {
	successes := float64(e.successes.Load() - d.since)
	others := max(float64(e.doubts.Load()-d.besides)-float64(d.row), 0)
	rate := (others + 1) / (others + successes + 2)
	return d.row >= culprits && successes >= float64(d.row) && float64(d.row) >= math.Log(0.001)/math.Log(rate)
}
