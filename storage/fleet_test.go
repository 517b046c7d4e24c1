package storage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"swivel/storage"
)

func drawKnown(t *rapid.T) storage.Known {
	k := storage.Known{ProxyID: "p", Succeeded: rapid.Bool().Draw(t, "succeeded"), LastSuccess: storage.Moment(rapid.IntRange(0, 9).Draw(t, "success"))}
	if k.Stamp = storage.Moment(rapid.IntRange(0, 2).Draw(t, "stamp")); k.Stamp > 0 {
		k.State = rapid.SampledFrom([]string{"closed", "open"}).Draw(t, "state")
		k.Until = k.Stamp + 5
	}
	for range rapid.IntRange(0, 3).Draw(t, "misses") {
		k.Failures = append(k.Failures, storage.Miss{At: storage.Moment(rapid.IntRange(1, 12).Draw(t, "at")), By: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "by")})
	}
	return k
}

// TestAnyOrderOfMessagesMergesToTheSame, however often each comes.
func TestAnyOrderOfMessagesMergesToTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var told []storage.Known
		for range rapid.IntRange(1, 8).Draw(t, "messages") {
			told = append(told, drawKnown(t))
		}
		var want storage.Known
		for _, one := range told {
			want = want.Merge(one)
		}
		again := append(rapid.Permutation(told).Draw(t, "order"), rapid.SliceOf(rapid.SampledFrom(told)).Draw(t, "again")...)
		var got storage.Known
		for _, one := range again {
			got = got.Merge(one)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("another order, another end (-want +got):\n%s", diff)
		}
	})
}

func TestCountsAddUpInAnyOrder(t *testing.T) {
	a := storage.Known{Window: []storage.Count{{At: 5, Successes: 1}, {At: 10, Failures: 2}}}
	b := storage.Known{Window: []storage.Count{{At: 10, Successes: 3, Failures: 1}}}
	want := []storage.Count{{At: 5, Successes: 1}, {At: 10, Successes: 3, Failures: 3}}
	for _, got := range []storage.Known{a.Merge(b), b.Merge(a)} {
		if diff := cmp.Diff(want, got.Window); diff != "" {
			t.Error(diff)
		}
	}
	later := storage.Known{Stamp: 1, State: "open"}
	if got := a.Merge(later); got.Window != nil || got.State != "open" {
		t.Errorf("outcomes from before a change of state still count: %+v", got)
	}
}

func TestLaterItemHolds(t *testing.T) {
	a, b := storage.Item{Key: "x", Stamp: 1, Value: "a"}, storage.Item{Key: "x", Stamp: 2}
	if a.Merge(b) != b || b.Merge(a) != b || b.Merge(b) != b {
		t.Error("not the later one")
	}
}
