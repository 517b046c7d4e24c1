package soak

import (
	"slices"
	"time"

	"swivel/cmd/swivel-bench/internal/stats"
)

// settled is when buffers, pools and caches have the size that they need.
const settled = time.Minute

// enough is how many samples a third of the rest has to have.
const enough = 3

// Growth compares what swivel held in the first third of the time after it had
// settled with what it held in the last.
type Growth struct {
	What        string
	First, Last float64 // medians; of the heap the least, which is the nearest to what is in use
	Grows       bool    // by more than a tenth, and than what comes and goes
}

// Growths is nil if there are too few samples to say.
func Growths(curve []Sample) []Growth {
	for len(curve) > 0 && curve[0].At < settled {
		curve = curve[1:]
	}
	third := len(curve) / 3
	if third < enough {
		return nil
	}
	var all []Growth
	for _, measure := range []struct {
		what  string
		slack float64 // what comes and goes
		of    func(Sample) float64
		boil  func([]float64) float64 // down to one
	}{
		{"RSS MiB", 2, func(s Sample) float64 { return float64(s.RSS) / (1 << 20) }, stats.Median},
		{"heap MiB", 3, func(s Sample) float64 { return float64(s.Heap) / (1 << 20) }, slices.Min[[]float64]},
		{"fds", 20, func(s Sample) float64 { return float64(s.FDs) }, stats.Median},
		{"threads", 3, func(s Sample) float64 { return float64(s.Threads) }, stats.Median},
		{"goroutines", 20, func(s Sample) float64 { return float64(s.Goroutines) }, stats.Median},
	} {
		boiled := func(part []Sample) float64 {
			values := make([]float64, len(part))
			for i, s := range part {
				values[i] = measure.of(s)
			}
			return measure.boil(values)
		}
		g := Growth{What: measure.what, First: boiled(curve[:third]), Last: boiled(curve[len(curve)-third:])}
		g.Grows = g.Last-g.First > max(g.First/10, measure.slack)
		all = append(all, g)
	}
	return all
}
