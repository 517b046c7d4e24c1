package sqlite

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"swivel/storage/storetest"
)

// withOrphans opens a store with n rows of a year ago, and one of now.
func withOrphans(t *testing.T, n int) *Store {
	t.Helper()
	store, _ := mustOpen(t, tempPath(t))
	mustExec(t, store.db, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < `+strconv.Itoa(n)+`)
		INSERT INTO circuit_breaker_states (proxy_id, state, failure_window_json, updated_at, recent)
		SELECT printf('old%013d', i), 'open', '[1000,1001,1002,1003,1004]', 1000, '-----' FROM n`)
	mustSave(t, store, storetest.Record("young"))
	return store
}

func rowCount(t *testing.T, store *Store) (n int) {
	t.Helper()
	if err := store.db.QueryRow("SELECT count(*) FROM circuit_breaker_states").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A list that is replaced every day leaves many behind.
func TestMillionOrphansArePrunedWhileOthersWrite(t *testing.T) {
	const n = 1_000_000
	store := withOrphans(t, n)
	began := time.Now()
	ctx, stop := context.WithCancel(t.Context())
	slowest := make(chan time.Duration)
	go func() { slowest <- saveOften(ctx, t, store) }()
	removed, err := store.Prune(t.Context(), time.Now().Add(-time.Hour), func(id string) bool { return id == "old0000000500000" })
	took := time.Since(began)
	stop()
	slow := <-slowest
	t.Logf("%d rows in %v; the slowest save beside it took %v", removed, took.Round(time.Millisecond), slow.Round(time.Millisecond))
	if removed != n-1 || err != nil {
		t.Errorf("removed %d, %v", removed, err)
	}
	if left := rowCount(t, store); left != 3 {
		t.Errorf("%d rows are left, want the one that is kept and two young ones", left)
	}
	if took > time.Minute || slow > 5*time.Second { // on a busy machine with a slow disk, under the race detector
		t.Error("that is too long")
	}
}

// saveOften saves as often as a journal with urgent records does, and returns
// how long the slowest save took.
func saveOften(ctx context.Context, t *testing.T, store *Store) (slowest time.Duration) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return slowest
		case <-ticker.C:
		}
		began := time.Now()
		if err := store.Save(context.Background(), manyRecords(1)); err != nil {
			t.Errorf("save: %v", err)
		}
		slowest = max(slowest, time.Since(began))
	}
}

func TestPruningThatIsEndedKeepsWhatItDid(t *testing.T) {
	const n = 3 * pruneStep
	store := withOrphans(t, n)
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	removed, err := store.Prune(ctx, time.Now().Add(-time.Hour), func(string) bool {
		if asked++; asked == pruneStep+1 { // in the middle of the second step, which it finishes
			cancel()
		}
		return false
	})
	if removed != 2*pruneStep || !errors.Is(err, context.Canceled) {
		t.Errorf("removed %d, %v", removed, err)
	}
	if left := rowCount(t, store); left != n-removed+1 {
		t.Errorf("%d rows are left", left)
	}
}

// Whoever wrote such a key, the walk goes on behind it.
func TestPruningEndsAtKeysThatAreNoText(t *testing.T) {
	store := withOrphans(t, 1)
	mustExec(t, store.db, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < `+strconv.Itoa(pruneStep+10)+`)
		INSERT INTO circuit_breaker_states (proxy_id, state, updated_at) SELECT randomblob(8), 'open', 1000 FROM n`)
	removed, err := store.Prune(t.Context(), time.Now().Add(-time.Hour), func(string) bool { return false })
	if removed != 1 || err != nil {
		t.Errorf("removed %d, %v", removed, err)
	}
}
