package sqlite

import (
	"fmt"
	"testing"

	"swivel/storage"
	"swivel/storage/storetest"
)

func manyRecords(n int) []storage.Record {
	records := make([]storage.Record, n)
	for i := range records {
		records[i] = storetest.Record(fmt.Sprintf("%016x", uint64(i)*0x9e3779b97f4a7c15))
	}
	return records
}

// BenchmarkSave1000 is one full batch of the journal.
func BenchmarkSave1000(b *testing.B) {
	store, _ := mustOpen(b, tempPath(b))
	records := manyRecords(1000)
	b.ReportAllocs()
	for b.Loop() {
		mustSave(b, store, records...)
	}
}

// BenchmarkLoad100000 is the part of a start with a large pool that is ours;
// the whole start has two seconds.
func BenchmarkLoad100000(b *testing.B) {
	store, _ := mustOpen(b, tempPath(b))
	mustSave(b, store, manyRecords(100_000)...)
	b.ReportAllocs()
	for b.Loop() {
		if records, _, err := store.Load(b.Context(), nil); err != nil || len(records) != 100_000 {
			b.Fatal(len(records), err)
		}
	}
}

// BenchmarkOpen100000 includes the check for damage.
func BenchmarkOpen100000(b *testing.B) {
	path := tempPath(b)
	store, _ := mustOpen(b, path)
	mustSave(b, store, manyRecords(100_000)...)
	mustClose(b, store)
	for b.Loop() {
		store, _ := mustOpen(b, path)
		mustClose(b, store)
	}
}

// BenchmarkSaveTargets is the most that is ever written; meanwhile transitions
// wait.
func BenchmarkSaveTargets(b *testing.B) {
	store, _ := mustOpen(b, tempPath(b))
	var bans []storage.Ban
	var rests []storage.TargetRest
	for i := range storage.MaxTargets {
		target := fmt.Sprintf("host%d.example:443", i)
		bans, rests = append(bans, storetest.Ban("0123456789abcdef", target)), append(rests, storetest.Rest(target))
	}
	for b.Loop() {
		if err := store.SaveTargets(b.Context(), bans, rests); err != nil {
			b.Fatal(err)
		}
	}
}
