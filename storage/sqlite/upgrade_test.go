package sqlite

import (
	"context"
	"errors"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"swivel/storage"
	"swivel/storage/storetest"
)

// atVersion brings the file to an earlier or later schema, as the program of
// that time would have left it.
func atVersion(t *testing.T, path string, version int64) {
	t.Helper()
	db := other(t, path)
	defer db.Close()
	provider, err := newProvider(db)
	if err != nil {
		t.Fatal(err)
	}
	_, err = provider.UpTo(context.Background(), version)
	if _, down := provider.DownTo(context.Background(), version); err != nil || down != nil {
		t.Fatal(errors.Join(err, down))
	}
}

// A deploy that forgets which proxies are bad is what the file is there to
// prevent.
func TestUpgradeKeepsTheRowsOfTheFirstSchema(t *testing.T) {
	path := tempPath(t)
	atVersion(t, path, 1)
	db := other(t, path)
	mustExec(t, db, `INSERT INTO circuit_breaker_states (proxy_id, state, failure_count, failure_window_json,
		next_test_time, last_state_change, failure_threshold, window_duration, timeout_duration, created_at, updated_at,
		generation, opens_in_row, cause, scope, suspicions, probe_wins)
		VALUES ('a', 'open', 1, '[1770000000.5]', 1770000030, 1770000001, 5, 60, 30, 1760000000, 1770000001,
		7, 3, 'run', 'proxy', 2, 1)`)
	mustExec(t, db, "INSERT INTO meta VALUES ('salt', ?)", make([]byte, storage.SaltSize))
	db.Close()

	store, opened := mustOpen(t, path)
	if opened.MovedTo != "" {
		t.Fatalf("opened %+v", opened)
	}
	at := func(s float64) time.Time { return fromSeconds(s) }
	want := storage.Record{
		ProxyID: "a", State: storage.StateOpen, Failures: []time.Time{at(1770000000.5)}, NextTest: at(1770000030),
		LastChange: at(1770000001), Generation: 7, OpensInRow: 3, Cause: "run", Suspicions: 2, ProbeWins: 1,
		Threshold: 5, RunWindow: time.Minute, Timeout: 30 * time.Second, CreatedAt: at(1760000000), UpdatedAt: at(1770000001),
	}
	if diff := gocmp.Diff(want, mustLoad(t, store)["a"]); diff != "" {
		t.Errorf("the row changed (-before +after):\n%s", diff)
	}
	if salt, err := store.Salt(t.Context()); err != nil || salt[0] != 0 {
		t.Errorf("the salt changed: %x, %v", salt, err)
	}
	mustSave(t, store, storetest.Record("a"))
	if got := mustLoad(t, store)["a"]; len(got.Window) != 2 || !got.CreatedAt.Equal(at(1760000000)) {
		t.Errorf("saved over the old row: %+v", got)
	}
}

// Whoever goes back to an older program, and forth again, loses what only the
// newer one knew, and nothing else.
func TestWayBackKeepsTheRows(t *testing.T) {
	path := filled(t)
	atVersion(t, path, 1)
	store, opened := mustOpen(t, path)
	got := mustLoad(t, store)
	if opened.MovedTo != "" || len(got) != 300 {
		t.Fatalf("%d records, opened %+v", len(got), opened)
	}
	want := storetest.Record("proxy007")
	want.Window, want.Recent, want.Succeeded, want.Misses = nil, "", false, 0
	want.CreatedAt, want.UpdatedAt = got["proxy007"].CreatedAt, got["proxy007"].UpdatedAt
	if diff := gocmp.Diff(want, got["proxy007"]); diff != "" {
		t.Errorf("the row changed (-before +after):\n%s", diff)
	}
}
