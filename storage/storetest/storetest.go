// Package storetest says in tests what a [storage.Store] has to do, once for
// all implementations, and offers one without a disk ([Memory]).
//
// Nothing in it is shared between tests, so they may run in parallel.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T, now func() time.Time) storage.Store { ... })
//	}
package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"swivel/storage"
)

// Open returns a new, empty store that takes its time stamps from now.
type Open func(t *testing.T, now func() time.Time) storage.Store

// Run checks the store that open returns against the contract of
// [storage.Store]. It closes what it opens.
func Run(t *testing.T, open Open) {
	for name, check := range map[string]func(*testing.T, storage.Store, *clock){
		"empty store loads nothing":                emptyLoadsNothing,
		"every field survives":                     everyFieldSurvives,
		"created_at is kept, updated_at moves":     stampsAreTheStores,
		"later of two records wins":                laterWins,
		"one invalid record fails the whole batch": allOrNothing,
		"load leaves out who is not asked for":     loadsNamed,
		"gone and old rows are pruned, no others":  prune,
		"salt is made once":                        saltIsStable,
		"cancelled call leaves the data alone":     cancelledCall,
		"paused proxy stays paused":                pauseIsKept,
		"later of two pauses wins":                 laterPauseWins,
		"pruning lifts no pause":                   pruneKeepsPauses,
		"invalid pause is refused":                 invalidPause,
		"deeds are kept in order":                  auditIsKeptInOrder,
		"invalid deed is refused":                  invalidDeed,
		"targets are replaced as a whole":          targetsAreReplaced,
		"what is over is not loaded":               overIsOver,
		"strange target costs no other":            strangeTarget,
		"longest bans and rests are kept":          longestAreKept,
		"concurrent use":                           concurrentUse,
		"pins are replaced and removed":            pinsAreReplacedAndRemoved,
		"pins that are over are gone":              pinsThatAreOverAreGone,
		"invalid pin fails the call":               invalidPinFails,
		"rows go on under other ids":               rowsGoOnUnderOtherIDs,
	} {
		t.Run(name, func(t *testing.T) {
			clock := &clock{at: Epoch}
			store := open(t, clock.now)
			defer func() {
				if err := store.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}()
			check(t, store, clock)
		})
	}
}

// Epoch is the time of records made by [Record], with a fraction that a store
// of whole seconds or of milliseconds would lose.
var Epoch = time.Date(2026, 2, 3, 4, 5, 6, 123456000, time.UTC)

// Record returns a valid record in which no field is zero, except those that
// the store sets.
func Record(id string) storage.Record {
	return storage.Record{
		ProxyID:    id,
		State:      storage.StateOpen,
		Failures:   []time.Time{Epoch.Add(-3 * time.Second), Epoch.Add(-1500 * time.Microsecond)},
		NextTest:   Epoch.Add(30 * time.Second),
		LastChange: Epoch,
		Generation: 1<<32 - 1,
		OpensInRow: 3,
		Cause:      "run",
		Suspicions: 2,
		ProbeWins:  1,
		Window: []storage.Tally{
			{At: Epoch.Add(-50 * time.Second), Successes: 40, Failures: 2},
			{At: Epoch.Add(-5 * time.Second), Failures: 3},
		},
		Recent:    "++-+-",
		Succeeded: true,
		Misses:    1,
		Threshold: 5,
		RunWindow: time.Minute,
		Timeout:   30*time.Second + 250*time.Millisecond,
	}
}

// clock is a time that only the test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func load(t *testing.T, store storage.Store) []storage.Record {
	t.Helper()
	records, skipped, err := store.Load(t.Context(), nil)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	if len(skipped) > 0 {
		t.Fatalf("rows skipped: %v", skipped)
	}
	slices.SortFunc(records, func(a, b storage.Record) int { return cmp.Compare(a.ProxyID, b.ProxyID) })
	return records
}

func save(t *testing.T, store storage.Store, records ...storage.Record) {
	t.Helper()
	if err := store.Save(t.Context(), records); err != nil {
		t.Fatalf("save: %v", err)
	}
}

func emptyLoadsNothing(t *testing.T, store storage.Store, _ *clock) {
	save(t, store) // nothing to save is no error
	if got := load(t, store); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func everyFieldSurvives(t *testing.T, store storage.Store, _ *clock) {
	full := Record("full")
	bare := storage.Record{ProxyID: "bare", State: storage.StateClosed}
	half := storage.Record{ProxyID: "half", State: storage.StateHalfOpen, NextTest: Epoch.Add(time.Microsecond)}
	save(t, store, full, bare, half)
	want := []storage.Record{bare, full, half}
	for i := range want {
		want[i].CreatedAt, want[i].UpdatedAt = Epoch, Epoch
	}
	if diff := gocmp.Diff(want, load(t, store)); diff != "" {
		t.Errorf("loaded differs (-saved +loaded):\n%s", diff)
	}
}

func loadsNamed(t *testing.T, store storage.Store, _ *clock) {
	save(t, store, Record("a"), Record("b"), Record("c"))
	for _, ids := range [][]string{{}, {"b"}, {"c", "gone", "a", "it's", "c"}} {
		records, skipped, err := store.Load(t.Context(), ids)
		if err != nil || len(skipped) > 0 {
			t.Fatalf("load %q: skipped %v, %v", ids, skipped, err)
		}
		var got []string
		for _, record := range records {
			got = append(got, record.ProxyID)
		}
		slices.Sort(got)
		want := slices.DeleteFunc([]string{"a", "b", "c"}, func(id string) bool { return !slices.Contains(ids, id) })
		if !slices.Equal(got, want) {
			t.Errorf("load %q gave %q", ids, got)
		}
	}
}

func stampsAreTheStores(t *testing.T, store storage.Store, clock *clock) {
	record := Record("a")
	record.CreatedAt = Epoch.Add(-time.Hour)
	save(t, store, record)
	clock.advance(time.Minute)
	save(t, store, record)
	got := load(t, store)[0]
	if !got.CreatedAt.Equal(Epoch) {
		t.Errorf("created %v, want the first save, %v", got.CreatedAt, Epoch)
	}
	if want := Epoch.Add(time.Minute); !got.UpdatedAt.Equal(want) {
		t.Errorf("updated %v, want the last save, %v", got.UpdatedAt, want)
	}
}

func laterWins(t *testing.T, store storage.Store, _ *clock) {
	older, newer := Record("a"), Record("a")
	newer.State, newer.Failures, newer.NextTest = storage.StateClosed, nil, time.Time{}
	save(t, store, older, newer)
	got := load(t, store)
	if len(got) != 1 || got[0].State != storage.StateClosed || !got[0].NextTest.IsZero() || len(got[0].Failures) != 0 {
		t.Errorf("got %+v, want one record, closed and without leftovers of the older", got)
	}
}

func allOrNothing(t *testing.T, store storage.Store, _ *clock) {
	bad := Record("b")
	bad.State = "ajar"
	if err := store.Save(t.Context(), []storage.Record{Record("a"), bad}); err == nil {
		t.Error("an invalid record was saved")
	}
	if got := load(t, store); len(got) != 0 {
		t.Errorf("half of a failed batch was saved: %v", got)
	}
}

func prune(t *testing.T, store storage.Store, clock *clock) {
	save(t, store, Record("old_gone"), Record("old_listed"))
	clock.advance(time.Hour)
	save(t, store, Record("young_gone"))
	removed, err := store.Prune(t.Context(), Epoch.Add(time.Minute), func(id string) bool { return id == "old_listed" })
	if err != nil || removed != 1 {
		t.Errorf("removed %d, %v; want 1", removed, err)
	}
	var left []string
	for _, record := range load(t, store) {
		left = append(left, record.ProxyID)
	}
	if want := []string{"old_listed", "young_gone"}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
}

func saltIsStable(t *testing.T, store storage.Store, _ *clock) {
	first, err := store.Salt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kept := slices.Clone(first)
	first[0]++ // a caller's change must not reach the store
	second, err := store.Salt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != storage.SaltSize || !slices.Equal(kept, second) {
		t.Errorf("salt was %x, then %x", kept, second)
	}
}

func cancelledCall(t *testing.T, store storage.Store, _ *clock) {
	save(t, store, Record("a"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Save(ctx, []storage.Record{Record("b")}); err == nil {
		t.Error("save: no error")
	}
	if _, _, err := store.Load(ctx, nil); err == nil {
		t.Error("load: no error")
	}
	if _, err := store.Prune(ctx, Epoch.Add(time.Hour), func(string) bool { return false }); err == nil {
		t.Error("prune: no error")
	}
	if got := load(t, store); len(got) != 1 || got[0].ProxyID != "a" {
		t.Errorf("got %v, want a alone", got)
	}
	cancelledExtras(t, store, ctx)
}

func concurrentUse(t *testing.T, store storage.Store, _ *clock) {
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 10 {
				if err := store.Save(t.Context(), []storage.Record{Record(fmt.Sprintf("%d-%d", worker, i))}); err != nil {
					t.Errorf("save: %v", err)
				}
				if _, _, err := store.Load(t.Context(), nil); err != nil {
					t.Errorf("load: %v", err)
				}
				if err := concurrentExtras(t.Context(), store, fmt.Sprint(worker)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := len(load(t, store)); got != 80 {
		t.Errorf("%d records, want 80", got)
	}
	if got := len(pauses(t, store)); got != 8 {
		t.Errorf("%d pauses, want 8", got)
	}
}
