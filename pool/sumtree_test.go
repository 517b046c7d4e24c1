package pool

import (
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// TestSumTreeSharesAreTheWeights walks through the whole range of the total, so
// that the shares are counted and not estimated.
func TestSumTreeSharesAreTheWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Float64Range(0, 50), 1, 200).Draw(t, "weights")
		tree := newSumTree(len(weights), 50)
		for i, w := range weights {
			tree.set(i, 1) // and changed
			tree.set(i, w)
		}
		filled := newSumTree(len(weights), 50)
		filled.fill(slices.All(weights))
		if got, want := filled.total(), tree.total(); got != want {
			t.Fatalf("filled at once the total is %d, want %d", got, want)
		}
		before := uint64(0)
		for i, w := range weights {
			share := tree.leaves[i].Load()
			if want := w / 50 * heaviest; math.Abs(float64(share)-want) > 1 {
				t.Fatalf("weight %v counts as %d, want %v", w, share, want)
			}
			if share == 0 {
				continue
			}
			for _, r := range []uint64{before, before + share - 1} {
				if got, ok := tree.find(r); !ok || got != i {
					t.Fatalf("%d lies in the share of %d (%v), want %d", r, got, ok, i)
				}
			}
			before += share
		}
		if got := tree.total(); got != before {
			t.Fatalf("the total is %d, the weights add up to %d", got, before)
		}
	})
}

func TestSumTreeWithoutWeightsDrawsNothing(t *testing.T) {
	for _, n := range []int{0, 1, 8, 9, 1000} {
		if got := newSumTree(n, 1).draw(); got != -1 {
			t.Errorf("a tree of %d drew %d", n, got)
		}
	}
}

func TestSumTreeKeepsTheSmallestWeight(t *testing.T) {
	tree := newSumTree(2, 1e9)
	tree.set(0, 1e-9)
	if got := tree.draw(); got != 0 {
		t.Errorf("the only weight was not drawn: %d", got)
	}
}

func TestSumTreeDrawsWhileWeightsChange(t *testing.T) {
	tree := newSumTree(1000, 1)
	tree.set(7, 1) // and stays
	var drawers sync.WaitGroup
	for range 4 {
		drawers.Go(func() {
			for range 20_000 {
				if i := tree.draw(); i != 7 && i%3 != 0 {
					t.Errorf("drew %d, which never had a weight", i)
				}
			}
		})
	}
	for round := range 200 {
		for i := 0; i < 1000; i += 3 {
			tree.set(i, float64(round%2))
		}
	}
	drawers.Wait()
	if got := tree.total(); got != heaviest+334*heaviest {
		t.Errorf("the total is %d in the end", got)
	}
}

// TestSumTreeThrowsFollowTheWeights is about draws that do not walk down the tree.
func TestSumTreeThrowsFollowTheWeights(t *testing.T) {
	const n, draws = 600, 200_000
	weights := [...]float64{1, 3, 5, 0}
	tree := newSumTree(n, 5)
	for i := range n {
		tree.set(i, weights[i%len(weights)])
	}
	var counts [len(weights)]int
	thrown := 0
	for range draws {
		if i, ok := tree.throw(tree.total()); ok {
			counts[i%len(weights)]++
			thrown++
		}
	}
	if thrown < draws*9/10 {
		t.Errorf("%d of %d throws found somebody", thrown, draws)
	}
	for i, w := range weights {
		if got, want := float64(counts[i])/float64(thrown), w/9; math.Abs(got-want) > 0.01 {
			t.Errorf("weight %v has a share of %.3f, want %.3f", w, got, want)
		}
	}
}

func TestSumTreeDoesNotThrowWhenNearlyAllAreOut(t *testing.T) {
	tree := newSumTree(1000, 1)
	tree.set(17, 1)
	if _, ok := tree.throw(tree.total()); ok {
		t.Error("it was lucky, and should not have tried")
	}
	if got := tree.draw(); got != 17 {
		t.Errorf("drew %d", got)
	}
}
