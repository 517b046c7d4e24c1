package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"swivel/storage"
	"swivel/storage/storetest"
)

// TestHubAnswersAsTheReference: the model is told the same things as storetest.Hub,
// which the script at the server is held against, and has to answer the same.
func TestHubAnswersAsTheReference(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		model, reference := newHub(), storetest.NewHub()
		var cursors [3]uint64
		now, life := storage.Moment(start.UnixMicro()), ""
		for range rapid.IntRange(1, 30).Draw(rt, "calls") {
			now += storage.Moment(rapid.IntRange(0, 3_000_000).Draw(rt, "passed"))
			if rapid.IntRange(0, 20).Draw(rt, "restart") == 0 {
				model.restart()
				reference.Restart()
			}
			i := rapid.IntRange(0, 2).Draw(rt, "instance")
			s := drawSync(rt, i, now)
			s.Life, s.Cursor = life, cursors[i]
			got, _ := model.sync(s)
			want, err := reference.Sync(context.Background(), s)
			if err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("the model answers otherwise (-want +got):\n%s", diff)
			}
			life, cursors[i] = got.Life, got.Cursor
		}
	})
}

func drawSync(t *rapid.T, instance int, now storage.Moment) storage.Sync {
	s := storage.Sync{Instance: fmt.Sprint("i", instance), Now: now, Limit: rapid.IntRange(1, 4).Draw(t, "limit"), LeaseFor: 1000}
	ids := rapid.SampledFrom([]string{"p1", "p2", "p3"})
	for range rapid.IntRange(0, 3).Draw(t, "told") {
		s.Known = append(s.Known, drawKnown(t, ids.Draw(t, "proxy"), s.Instance))
	}
	if rapid.Bool().Draw(t, "wish") {
		s.Leases = []storage.Wish{{ProxyID: ids.Draw(t, "wished"), Stamp: rapid.SampledFrom([]storage.Moment{0, now}).Draw(t, "seen")}}
	}
	if rapid.Bool().Draw(t, "release") {
		s.Released = []string{ids.Draw(t, "released")}
	}
	return s
}

func drawKnown(t *rapid.T, id, by string) storage.Known {
	moments := rapid.Custom(func(t *rapid.T) storage.Moment {
		return storage.Moment(start.UnixMicro() + int64(rapid.IntRange(0, 5).Draw(t, "at")))
	})
	k := storage.Known{ProxyID: id, Succeeded: rapid.Bool().Draw(t, "succeeded")}
	if rapid.Bool().Draw(t, "proved") {
		k.LastSuccess = moments.Draw(t, "success")
	}
	if rapid.Bool().Draw(t, "moved") {
		k.Stamp, k.State, k.Cause, k.OpensInRow = moments.Draw(t, "stamp"), "open", "run", rapid.IntRange(0, 12).Draw(t, "opens")
	}
	for range rapid.IntRange(0, 2).Draw(t, "failures") {
		k.Failures = append(k.Failures, storage.Miss{At: moments.Draw(t, "failed"), By: by})
		k.Window = append(k.Window, storage.Count{At: moments.Draw(t, "part"), Successes: rapid.IntRange(0, 12).Draw(t, "count"), Failures: 1})
	}
	return k
}

// TestSizesAreThoseOfTheJSON, without making it.
func TestSizesAreThoseOfTheJSON(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := drawKnown(rt, "53aa97ecfdf05c2f", "i1")
		text, err := json.Marshal(k)
		if err != nil {
			rt.Fatal(err)
		}
		if got := sizeOf(&k); got != len(text) {
			rt.Fatalf("%d, want %d: %s", got, len(text), text)
		}
	})
}
