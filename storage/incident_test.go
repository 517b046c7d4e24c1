package storage_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"swivel/storage"
)

var errFull = errors.New("disk full")

// A store that fails for a minute is two lines in the log, not a flood.
func TestIncidentIsReportedOnce(t *testing.T) {
	var journal *storage.Journal
	var begins []error
	var ends []int
	options := storage.Options{
		OnIncident: func(err error) {
			journal.Stats() // would hang if it were called under the lock
			begins = append(begins, err)
		},
		OnRecovered: func(failures int) {
			journal.Stats()
			ends = append(ends, failures)
		},
	}
	bubble(t, options, func(t *testing.T, j *storage.Journal, store *flaky) {
		journal = j
		store.set(errFull, 0)
		for generation := range uint32(60) {
			journal.Put(record("a", generation+1), true)
			after(time.Second)
		}
		failures := journal.Stats().Failures
		if len(begins) != 1 || !errors.Is(begins[0], errFull) || len(ends) != 0 {
			t.Errorf("while failing: %v, %v", begins, ends)
		}
		store.set(nil, 0)
		after(5 * time.Second)
		if len(begins) != 1 || !slices.Equal(ends, []int{int(failures)}) {
			t.Errorf("after %d failures: %v, %v", failures, begins, ends)
		}
		if stats := journal.Stats(); store.stored(t, "a") != 60 || stats.Incident != nil || stats.Lag != 0 {
			t.Errorf("the newest record is not stored: %+v", stats)
		}
	})
}

func TestFailingStoreIsRetriedLessAndLess(t *testing.T) {
	bubble(t, storage.Options{}, func(t *testing.T, journal *storage.Journal, store *flaky) {
		store.set(errFull, 0)
		journal.Put(record("a", 1), true)
		after(25 * time.Second)
		var gaps []time.Duration
		for i := 1; i < len(store.times); i++ {
			gaps = append(gaps, store.times[i].Sub(store.times[i-1]))
		}
		const ms = time.Millisecond
		want := []time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 5000 * ms, 5000 * ms, 5000 * ms}
		if !slices.Equal(gaps, want) {
			t.Errorf("retries after %v, want %v", gaps, want)
		}
	})
}

// The failed record comes back to the queue, but never over a newer one.
func TestFailedRecordDoesNotOverwriteANewerOne(t *testing.T) {
	bubble(t, storage.Options{}, func(t *testing.T, journal *storage.Journal, store *flaky) {
		store.set(errFull, 10*time.Millisecond)
		journal.Put(record("a", 1), true)
		journal.Put(record("b", 1), true)
		after(25 * time.Millisecond)       // the write is under way
		journal.Put(record("a", 2), false) // inherits the hurry of the one that will fail
		after(10 * time.Millisecond)
		if stats := journal.Stats(); stats.Pending != 2 || stats.Failures != 1 {
			t.Errorf("after the failure: %+v", stats)
		}
		store.set(nil, 0)
		after(100 * time.Millisecond)
		if a, b := store.stored(t, "a"), store.stored(t, "b"); a != 2 || b != 1 {
			t.Errorf("stored generations %d and %d, want 2 and 1", a, b)
		}
	})
}

func TestMemoryIsBoundedByTheProxies(t *testing.T) {
	bubble(t, storage.Options{}, func(t *testing.T, journal *storage.Journal, store *flaky) {
		store.set(errFull, 0)
		for generation := range uint32(100) {
			for _, id := range []string{"a", "b", "c"} {
				journal.Put(record(id, generation), generation%2 == 0)
			}
			after(100 * time.Millisecond)
		}
		if stats := journal.Stats(); stats.Pending != 3 || stats.Dropped != 0 {
			t.Errorf("%+v", stats)
		}
	})
}

func TestLagSaysHowLateTheStoreIs(t *testing.T) {
	bubble(t, storage.Options{}, func(t *testing.T, journal *storage.Journal, store *flaky) {
		journal.Put(record("a", 1), false)
		if lag := journal.Stats().Lag; lag != 0 {
			t.Errorf("lag %v of a record that is not due", lag)
		}
		store.set(nil, time.Minute) // hangs: the record is neither queued nor stored
		after(500*time.Millisecond + 10*time.Second)
		if stats := journal.Stats(); stats.Lag != 10*time.Second || stats.Pending != 1 {
			t.Errorf("while it hangs: %+v", stats)
		}
	})
}

// Flush is also how an operator asks whether the disk works again.
func TestFlushTriesAtOnceAndKeepsWhatFails(t *testing.T) {
	bubble(t, storage.Options{}, func(t *testing.T, journal *storage.Journal, store *flaky) {
		store.set(errFull, 0)
		journal.Put(record("a", 1), true)
		after(20 * time.Second) // the next retry is seconds away
		if err := journal.Flush(t.Context()); !errors.Is(err, errFull) {
			t.Errorf("err = %v", err)
		}
		store.set(nil, 0)
		begin := time.Now()
		if err := journal.Flush(t.Context()); err != nil || time.Since(begin) != 0 {
			t.Errorf("err = %v after %v", err, time.Since(begin))
		}
		if store.stored(t, "a") != 1 {
			t.Error("the record is lost")
		}
	})
}

func TestCloseOutwaitsAnIncident(t *testing.T) {
	bubble(t, storage.Options{}, func(t *testing.T, journal *storage.Journal, store *flaky) {
		store.set(errFull, 0)
		journal.Put(record("a", 1), true)
		time.AfterFunc(3*time.Second, func() { store.set(nil, 0) })
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := journal.Close(ctx); err != nil || store.stored(t, "a") != 1 {
			t.Errorf("err = %v", err)
		}
	})
}

func TestCloseSaysWhatIsLost(t *testing.T) {
	for name, slow := range map[string]time.Duration{"store fails": 0, "store hangs": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newFlaky()
				journal := storage.NewJournal(store, storage.Options{})
				store.set(errFull, slow)
				journal.Put(record("a", 1), true)
				after(30 * time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				begin := time.Now()
				err := journal.Close(ctx)
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 2*time.Second {
					t.Errorf("err = %v after %v", err, time.Since(begin))
				}
				if want := "1 records are not stored"; err == nil || err.Error()[:len(want)] != want {
					t.Errorf("err = %v, want %q", err, want)
				}
				if err := journal.Close(t.Context()); err == nil || strings.ContainsAny(err.Error(), "\n%") {
					t.Errorf("closed once more: %v", err)
				}
			})
		})
	}
}
