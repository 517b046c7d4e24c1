// Package stats boils down what was measured: the middle of several rounds, the
// quantiles of many times, and the ratios of pairs. It is pure, and none of its
// functions changes its argument except Quantile, which says so.
package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Median is the middle of the values, or the mean of the two in the middle; NaN
// without any.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// Quantile is the least of the values that q of them (0 to 1) do not exceed, and
// the zero value without any. It sorts the values in place, since there are many.
func Quantile[T cmp.Ordered](values []T, q float64) (at T) {
	if len(values) == 0 {
		return at
	}
	slices.Sort(values)
	rank := int(math.Ceil(q * float64(len(values))))
	return values[min(max(rank, 1), len(values))-1]
}

// Ratio is how many times as large one thing was as another, over several rounds
// of both. Zero: it was not measured.
type Ratio struct{ Median, Low, High float64 }

// Ratios divides round by round, because what else the machine did in a round it
// did to both; pairs of which one is missing (0) are left out.
func Ratios(over, under []float64) Ratio {
	var each []float64
	for i := range min(len(over), len(under)) {
		if over[i] > 0 && under[i] > 0 {
			each = append(each, over[i]/under[i])
		}
	}
	if len(each) == 0 {
		return Ratio{}
	}
	return Ratio{Median(each), slices.Min(each), slices.Max(each)}
}

func (r Ratio) String() string {
	if r == (Ratio{}) {
		return "-"
	}
	return fmt.Sprintf("%.2f (%.2f-%.2f)", r.Median, r.Low, r.High)
}
