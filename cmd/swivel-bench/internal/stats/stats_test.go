package stats

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 1, 100, 2}, 3},
	} {
		before := slices.Clone(c.values)
		if got := Median(c.values); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.values, got, c.want)
		}
		if !slices.Equal(before, c.values) {
			t.Errorf("Median changed %v to %v", before, c.values)
		}
	}
	if got := Median(nil); !math.IsNaN(got) {
		t.Errorf("Median(nil) = %v", got)
	}
}

func TestQuantile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(100 - i)
	}
	for q, want := range map[float64]time.Duration{0: 1, .5: 50, .99: 99, 1: 100} {
		if got := Quantile(hundred, q); got != want {
			t.Errorf("Quantile(1..100, %v) = %d, want %d", q, got, want)
		}
	}
	if got := Quantile([]time.Duration(nil), .5); got != 0 {
		t.Errorf("Quantile of nothing is %v", got)
	}
}

// TestQuantileIsWhatItSays: at least q of the values are not larger, and fewer
// are smaller.
func TestQuantileIsWhatItSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(0, 50), 1, 100).Draw(t, "values")
		q := rapid.Float64Range(0.01, 1).Draw(t, "q")
		at := Quantile(slices.Clone(values), q)
		var smaller, upTo float64
		for _, v := range values {
			if v < at {
				smaller++
			}
			if v <= at {
				upTo++
			}
		}
		if n := float64(len(values)); upTo < q*n || smaller >= q*n {
			t.Fatalf("%d is above %v and not below %v of %v", at, smaller, upTo, n)
		}
	})
}

func TestRatiosAreOfRoundsAndNotOfMedians(t *testing.T) {
	// The machine was busy in the second round, with both.
	if got, want := Ratios([]float64{10, 40, 12}, []float64{20, 80, 20}), (Ratio{.5, .5, .6}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestRatiosLeaveOutRoundsThatOneOfThemMissed(t *testing.T) {
	if got, want := Ratios([]float64{10, 0, 12, 9}, []float64{0, 80, 24}), (Ratio{.5, .5, .5}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := Ratios([]float64{0}, []float64{3}).String(); got != "-" {
		t.Errorf("a ratio of nothing is %q", got)
	}
}
