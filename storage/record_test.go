package storage_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"swivel/storage"
	"swivel/storage/storetest"
)

func TestSoundRecordsAreValid(t *testing.T) {
	for name, record := range map[string]storage.Record{
		"full":              storetest.Record("0123456789abcdef"),
		"bare":              {ProxyID: "a", State: storage.StateClosed},
		"clock not set yet": {ProxyID: "a", State: storage.StateOpen, LastChange: time.Unix(3, 0)},
		"as much as there may be": {ProxyID: "a", State: storage.StateClosed, Misses: 100,
			Recent: strings.Repeat("+-", 32), Window: slices.Repeat([]storage.Tally{{At: time.Unix(3, 0)}}, 64)},
	} {
		if err := record.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNonsenseIsNotStored(t *testing.T) {
	for name, spoil := range map[string]func(*storage.Record){
		"no id":                  func(r *storage.Record) { r.ProxyID = "" },
		"id is an address":       func(r *storage.Record) { r.ProxyID = "s3cret.example:8080" },
		"id has a password":      func(r *storage.Record) { r.ProxyID = "u:s3cret@h" },
		"id is endless":          func(r *storage.Record) { r.ProxyID = strings.Repeat("a", 65) },
		"no state":               func(r *storage.Record) { r.State = "" },
		"unknown state":          func(r *storage.Record) { r.State = "OPEN" },
		"cause is a text":        func(r *storage.Record) { r.Cause = "dial s3cret: refused" },
		"negative count":         func(r *storage.Record) { r.Suspicions = -1 },
		"negative duration":      func(r *storage.Record) { r.Timeout = -time.Second },
		"time before 1970":       func(r *storage.Record) { r.LastChange = time.Unix(-1, 0) },
		"milliseconds as a time": func(r *storage.Record) { r.NextTest = time.Unix(1_770_000_000_000, 0) },
		"tally at no time":       func(r *storage.Record) { r.Window[0].At = time.Time{} },
		"tally in milliseconds":  func(r *storage.Record) { r.Window[0].At = time.Unix(1_770_000_000_000, 0) },
		"negative tally":         func(r *storage.Record) { r.Window[1].Failures = -1 },
		"tally beyond 32 bits":   func(r *storage.Record) { r.Window[1].Successes = 1 << 32 },
		"endless window":         func(r *storage.Record) { r.Window = slices.Repeat(r.Window[:1], 65) },
		"recent is a text":       func(r *storage.Record) { r.Recent = "+s3cret+" },
		"recent is endless":      func(r *storage.Record) { r.Recent = strings.Repeat("-", 65) },
		"negative misses":        func(r *storage.Record) { r.Misses = -1 },
		"endless misses":         func(r *storage.Record) { r.Misses = 101 },
		"failure at no time":     func(r *storage.Record) { r.Failures[0] = time.Time{} },
		"failure in the year 1":  func(r *storage.Record) { r.Failures[0] = time.Time{}.Add(time.Hour) },
	} {
		record := storetest.Record("a")
		spoil(&record)
		switch err := record.Validate(); {
		case err == nil:
			t.Errorf("%s: no error", name)
		case strings.Contains(err.Error(), "s3cret"):
			t.Errorf("%s: the error repeats the secret: %v", name, err)
		}
	}
}
