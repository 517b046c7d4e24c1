package storetest

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"swivel/storage"
)

// Pause returns a valid pause in which no field is zero.
func Pause(id string) storage.Pause {
	return storage.Pause{ProxyID: id, Reason: "invoice 7 – we don't pay twice", By: "alice@10.0.0.1", At: Epoch, Drain: true}
}

func pauses(t *testing.T, store storage.Store) []storage.Pause {
	t.Helper()
	found, err := store.Pauses(t.Context())
	if err != nil {
		t.Fatalf("pauses: %v", err)
	}
	slices.SortFunc(found, func(a, b storage.Pause) int { return cmp.Compare(a.ProxyID, b.ProxyID) })
	return found
}

func setPause(t *testing.T, store storage.Store, pause storage.Pause) {
	t.Helper()
	if err := store.SetPause(t.Context(), pause); err != nil {
		t.Fatalf("set pause: %v", err)
	}
}

func pauseIsKept(t *testing.T, store storage.Store, _ *clock) {
	if got := pauses(t, store); len(got) != 0 {
		t.Errorf("an empty store has pauses: %v", got)
	}
	bare := storage.Pause{ProxyID: "bare", At: Epoch.Add(time.Microsecond)}
	setPause(t, store, Pause("full"))
	setPause(t, store, bare)
	setPause(t, store, Pause("resumed"))
	if found, err := store.ClearPause(t.Context(), "resumed"); !found || err != nil {
		t.Errorf("clear: %v, %v; want it found", found, err)
	}
	for _, id := range []string{"resumed", "never_paused", ""} {
		if found, err := store.ClearPause(t.Context(), id); found || err != nil {
			t.Errorf("clear %q: %v, %v; want it not found", id, found, err)
		}
	}
	if diff := gocmp.Diff([]storage.Pause{bare, Pause("full")}, pauses(t, store)); diff != "" {
		t.Errorf("pauses differ (-set +loaded):\n%s", diff)
	}
}

func laterPauseWins(t *testing.T, store storage.Store, _ *clock) {
	setPause(t, store, Pause("a"))
	again := storage.Pause{ProxyID: "a", Reason: "still", At: Epoch.Add(time.Hour)}
	setPause(t, store, again)
	if diff := gocmp.Diff([]storage.Pause{again}, pauses(t, store)); diff != "" {
		t.Errorf("pauses differ (-set +loaded):\n%s", diff)
	}
}

// A proxy that was paused for being abused must not be back in use because its
// vendor's list lacked it for a week.
func pruneKeepsPauses(t *testing.T, store storage.Store, clock *clock) {
	save(t, store, Record("a"))
	setPause(t, store, Pause("a"))
	clock.advance(time.Hour)
	if removed, err := store.Prune(t.Context(), clock.now(), func(string) bool { return false }); removed != 1 || err != nil {
		t.Fatalf("removed %d, %v; want 1", removed, err)
	}
	if got := pauses(t, store); len(got) != 1 {
		t.Errorf("pauses %v, want that of a", got)
	}
}

func invalidPause(t *testing.T, store storage.Store, _ *clock) {
	setPause(t, store, Pause("a"))
	bad := Pause("a")
	bad.Reason = strings.Repeat("x", 1<<20)
	if err := store.SetPause(t.Context(), bad); err == nil {
		t.Error("a megabyte of reason was stored")
	}
	if diff := gocmp.Diff([]storage.Pause{Pause("a")}, pauses(t, store)); diff != "" {
		t.Errorf("pauses differ (-set +loaded):\n%s", diff)
	}
}
