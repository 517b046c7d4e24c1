package pool

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// share is the exact probability with which the table draws each index.
func share(t aliasTable) []float64 {
	p := make([]float64, len(t.cells))
	n := float64(len(t.cells))
	for i, c := range t.cells {
		keep := min(float64(c.keep), 1)
		p[i] += keep / n
		p[c.alias] += (1 - keep) / n
	}
	return p
}

func TestAliasTableHasExactlyTheSharesOfTheWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-3, 1e6)), 1, 50).Draw(t, "weights")
		total := 0.0
		for _, w := range weights {
			total += w
		}
		table := newAliasTable(weights)
		if total == 0 {
			if table.draw() != -1 {
				t.Fatal("drew from weights that are all zero")
			}
			return
		}
		for i, p := range share(table) {
			if want := weights[i] / total; math.Abs(p-want) > 1e-6 {
				t.Fatalf("index %d of %v: probability %v, want %v", i, weights, p, want)
			}
			if weights[i] == 0 && p != 0 {
				t.Fatalf("index %d of %v has weight 0 and probability %v", i, weights, p)
			}
		}
	})
}

func TestEmptyAliasTableDrawsNothing(t *testing.T) {
	if got := newAliasTable(nil).draw(); got != -1 {
		t.Errorf("drew %d", got)
	}
}
