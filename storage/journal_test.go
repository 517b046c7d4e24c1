package storage_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"swivel/storage"
	"swivel/storage/storetest"
)

// flaky is a store in memory that can be told to fail or to take its time.
type flaky struct {
	*storetest.Memory

	mu      sync.Mutex
	failure error         // what Save returns; nil: it works
	slow    time.Duration // how long a Save takes
	sizes   []int         // of the batches that came
	times   []time.Time   // when they came
}

func newFlaky() *flaky { return &flaky{Memory: storetest.NewMemory(time.Now)} }

func (f *flaky) set(failure error, slow time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failure, f.slow = failure, slow
}

func (f *flaky) Save(ctx context.Context, records []storage.Record) error {
	f.mu.Lock()
	failure, slow := f.failure, f.slow
	f.sizes = append(f.sizes, len(records))
	f.times = append(f.times, time.Now())
	f.mu.Unlock()
	if slow > 0 {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if failure != nil {
		return failure
	}
	return f.Memory.Save(ctx, records)
}

func (f *flaky) saves() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.sizes)
}

// stored returns the stored generation of a proxy, 0 if there is none.
func (f *flaky) stored(t *testing.T, id string) uint32 {
	t.Helper()
	records, _, err := f.Load(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records {
		if record.ProxyID == id {
			return record.Generation
		}
	}
	return 0
}

func record(id string, generation uint32) storage.Record {
	r := storetest.Record(id)
	r.Generation = generation
	return r
}

// bubble runs a test of a journal in fake time and closes the journal.
func bubble(t *testing.T, options storage.Options, check func(*testing.T, *storage.Journal, *flaky)) {
	synctest.Test(t, func(t *testing.T) {
		store := newFlaky()
		journal := storage.NewJournal(store, options)
		check(t, journal, store)
		store.set(nil, 0)
		if err := journal.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

// after lets time pass, and what is due in it happen.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestTransitionIsStoredWithinItsTime(t *testing.T) {
	bubble(t, storage.Options{}, func(t *testing.T, journal *storage.Journal, store *flaky) {
		store.set(nil, 25*time.Millisecond) // a slow disk
		journal.Put(record("a", 1), true)
		after(storage.UrgentWithin)
		if store.stored(t, "a") != 1 {
			t.Error("not stored")
		}
	})
}

func TestOtherChangeIsStoredWithinItsTime(t *testing.T) {
	bubble(t, storage.Options{}, func(t *testing.T, journal *storage.Journal, store *flaky) {
		store.set(nil, 250*time.Millisecond)
		journal.Put(record("a", 1), false)
		after(100 * time.Millisecond)
		if store.saves() != 0 {
			t.Error("stored at once: nothing can coalesce")
		}
		after(storage.OthersWithin - 100*time.Millisecond)
		if store.stored(t, "a") != 1 {
			t.Error("not stored")
		}
	})
}

// A proxy that changes without a pause must not push its own write ahead.
func TestBusyRecordIsStoredAllTheSame(t *testing.T) {
	bubble(t, storage.Options{}, func(t *testing.T, journal *storage.Journal, store *flaky) {
		for generation := range uint32(200) {
			journal.Put(record("a", generation+1), false)
			after(10 * time.Millisecond)
		}
		if saves := store.saves(); saves < 2 || saves > 4 {
			t.Errorf("%d writes in two seconds", saves)
		}
		after(storage.OthersWithin)
		if got := store.stored(t, "a"); got != 200 {
			t.Errorf("generation %d is stored, want the newest, 200", got)
		}
	})
}

func TestChangeThatBecomesUrgentIsHurried(t *testing.T) {
	bubble(t, storage.Options{}, func(t *testing.T, journal *storage.Journal, store *flaky) {
		journal.Put(record("a", 1), false)
		journal.Put(record("a", 2), true)
		journal.Put(record("a", 3), false) // and stays so
		after(storage.UrgentWithin)
		if got := store.stored(t, "a"); got != 3 {
			t.Errorf("generation %d is stored, want 3", got)
		}
	})
}

// After a restart every proxy has news at once; transitions go first.
func TestTransitionOvertakesABacklog(t *testing.T) {
	bubble(t, storage.Options{}, func(t *testing.T, journal *storage.Journal, store *flaky) {
		store.set(nil, 10*time.Millisecond)
		for i := range 100_000 {
			journal.Put(record(fmt.Sprintf("proxy%d", i), 1), false)
		}
		after(600 * time.Millisecond) // the backlog is being written
		journal.Put(record("a", 1), true)
		after(storage.UrgentWithin)
		if store.stored(t, "a") != 1 {
			t.Error("the transition waits behind the backlog")
		}
		after(2 * time.Second)
		if stats := journal.Stats(); stats.Pending != 0 || stats.Written != 100_001 {
			t.Errorf("%+v", stats)
		}
		for _, size := range store.sizes {
			if size > 1000 {
				t.Fatalf("a transaction of %d rows keeps readers out", size)
			}
		}
	})
}

func TestFlushStoresWhatIsPending(t *testing.T) {
	bubble(t, storage.Options{}, func(t *testing.T, journal *storage.Journal, store *flaky) {
		for i := range 2500 {
			journal.Put(record(fmt.Sprintf("proxy%d", i), 1), i%2 == 0)
		}
		if err := journal.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		if stats := journal.Stats(); stats.Pending != 0 || stats.Written != 2500 || store.saves() != 3 {
			t.Errorf("%+v after %d writes", stats, store.saves())
		}
	})
}

func TestFlushGivesUpWithItsContext(t *testing.T) {
	bubble(t, storage.Options{}, func(t *testing.T, journal *storage.Journal, store *flaky) {
		store.set(nil, time.Hour)
		journal.Put(record("a", 1), true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := journal.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err = %v", err)
		}
	})
}

// One bad record used to be able to keep all others from the disk for ever.
func TestInvalidRecordHarmsNoOther(t *testing.T) {
	bubble(t, storage.Options{}, func(t *testing.T, journal *storage.Journal, store *flaky) {
		journal.Put(record("user:s3cret@host", 1), true)
		journal.Put(record("a", 1), true)
		after(storage.UrgentWithin)
		if stats := journal.Stats(); stats.Dropped != 1 || stats.Incident != nil || store.stored(t, "a") != 1 {
			t.Errorf("%+v", stats)
		}
	})
}

func TestCloseStoresEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFlaky()
		journal := storage.NewJournal(store, storage.Options{})
		for i := range 1500 {
			journal.Put(record(fmt.Sprintf("proxy%d", i), 1), i%2 == 0)
		}
		for range 2 { // the second finds it closed
			if err := journal.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		journal.Put(record("late", 1), true)
		if stats := journal.Stats(); stats.Written != 1500 || stats.Pending != 0 || stats.Dropped != 1 {
			t.Errorf("%+v", stats)
		}
		if err := journal.Flush(t.Context()); !errors.Is(err, storage.ErrClosed) {
			t.Errorf("flush after close: %v", err)
		}
	})
}

func BenchmarkPut(b *testing.B) {
	journal := storage.NewJournal(storetest.NewMemory(time.Now), storage.Options{})
	b.Cleanup(func() { _ = journal.Close(context.Background()) })
	records := make([]storage.Record, 1000)
	for i := range records {
		records[i] = record(fmt.Sprintf("proxy%d", i), 1)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			journal.Put(records[i%len(records)], i%8 == 0)
		}
	})
}
