package sqlite

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"swivel/storage"
	"swivel/storage/storetest"
)

// One edited row must not cost the daemon its start, nor the other rows.
func TestRowsOfNonsenseAreSkipped(t *testing.T) {
	const sound = "UPDATE circuit_breaker_states SET "
	nonsense := map[string]string{
		"unknown state":             "state = 'ajar'",
		"state is a number":         "state = x'01'",
		"window is no JSON":         "failure_window_json = '[1,'",
		"window of texts":           `failure_window_json = '["1"]'`,
		"window of NaN":             "failure_window_json = '[NaN]'",
		"window of nulls":           "failure_window_json = '[null]'",
		"window in the negative":    "failure_window_json = '[-1]'",
		"window is a blob":          "failure_window_json = x'5b5d'",
		"time is a text":            "next_test_time = 'NaN'",
		"time is infinite":          "next_test_time = 9e999",
		"time before 1970":          "last_state_change = -1",
		"time in milliseconds":      "next_test_time = 1770000000000",
		"duration of nanoseconds":   "timeout_duration = 3e10 * 1e9",
		"negative duration":         "window_duration = -60",
		"negative count":            "opens_in_row = -1",
		"count with a fraction":     "suspicions = 1.5",
		"count is a text":           "failure_threshold = 'five'",
		"generation beyond 32 bits": "generation = 4294967296",
		"id with a password":        "proxy_id = 'user:s3cret@10.0.0.1:8080'",
		"cause with an address":     "cause = 'dial 10.0.0.1:8080'",
		"id that fills the log":     "proxy_id = hex(zeroblob(5000))",
		"updated_at is infinite":    "updated_at = -9e999",
		"created_at is a blob":      "created_at = x'00'",
		"window that is one number": "failure_window_json = '5'",
		"probe_wins beyond 64 bits": "probe_wins = 1e30",
		"window of one huge number": "failure_window_json = '[1e300]'",
		"tallies are no JSON":       "window_json = '[[1,'",
		"tallies without tallies":   "window_json = '[1770000000, 1, 2]'",
		"tally of two":              "window_json = '[[1770000000, 1]]'",
		"tally of four":             "window_json = '[[1770000000, 1, 2, 3]]'",
		"tally at no time":          "window_json = '[[null, 1, 2]]'",
		"tally in milliseconds":     "window_json = '[[1770000000000, 1, 2]]'",
		"tally with a fraction":     "window_json = '[[1770000000, 1.5, 2]]'",
		"tally below nothing":       "window_json = '[[1770000000, 1, -2]]'",
		"tally beyond 32 bits":      "window_json = '[[1770000000, 4294967296, 0]]'",
		"tallies are a blob":        "window_json = x'5b5d'",
		"tallies without an end":    "window_json = '[[1,0,0]' || replace(hex(zeroblob(64)), '00', ',[1,0,0]') || ']'",
		"recent with an address":    "recent = '+10.0.0.1:8080'",
		"recent is a number":        "recent = x'2b'",
		"recent without an end":     "recent = hex(zeroblob(33))",
		"succeeded twice":           "succeeded = 2",
		"succeeded is a text":       "succeeded = 'yes'",
		"misses in the negative":    "misses = -1",
		"misses without an end":     "misses = 101",
		"duration of 300 years":     "timeout_duration = 1e10",
	}
	path := tempPath(t)
	store, _ := mustOpen(t, path)
	mustExec(t, store.db, "PRAGMA ignore_check_constraints = on")
	for name, set := range nonsense {
		mustExec(t, store.db, "DELETE FROM circuit_breaker_states")
		mustSave(t, store, storetest.Record("bad"))
		mustExec(t, store.db, sound+set+" WHERE proxy_id = 'bad'")
		mustSave(t, store, storetest.Record("good"))
		records, skipped, err := store.Load(t.Context(), nil)
		if err != nil || len(records) != 1 || len(skipped) != 1 {
			t.Errorf("%s: %d records, skipped %v, %v; want one and one", name, len(records), skipped, err)
			continue
		}
		if text := skipped[0].Error(); strings.Contains(text, "s3cret") || len(text) > 200 {
			t.Errorf("%s: the error repeats the row: %s", name, text)
		}
		if _, err := store.Prune(t.Context(), time.Now().Add(time.Hour), func(string) bool { return false }); err != nil {
			t.Errorf("%s: prune: %v", name, err)
		}
	}
}

// quick_check complains about a row that breaks a CHECK; the file is sound.
func TestRowOfNonsenseIsNotDamage(t *testing.T) {
	path := filled(t)
	db := connect(path, forInspection(busyTimeout, "rw"))
	mustExec(t, db, "UPDATE circuit_breaker_states SET state = 'ajar' WHERE proxy_id = 'proxy007'")
	db.Close()
	store, opened := mustOpen(t, path)
	if opened.MovedTo != "" {
		t.Fatalf("moved to %s: %v", opened.MovedTo, opened.Damage)
	}
	records, skipped, err := store.Load(t.Context(), nil)
	if err != nil || len(records) != 299 || len(skipped) != 1 {
		t.Errorf("%d records, skipped %v, %v", len(records), skipped, err)
	}
}

// Rows that another program wrote with the documented columns only are fine.
func TestRowWithoutOurOwnColumns(t *testing.T) {
	store, _ := mustOpen(t, tempPath(t))
	mustExec(t, store.db, `INSERT INTO circuit_breaker_states (proxy_id, state, failure_count, failure_window_json,
		next_test_time, last_state_change, failure_threshold, window_duration, timeout_duration, created_at, updated_at)
		VALUES ('a', 'open', 2, '[1770000000, 1770000001.5]', 1770000030, NULL, 5, 60, 30, 1770000000, 1770000000)`)
	got := mustLoad(t, store)["a"]
	if len(got.Failures) != 2 || got.Failures[1].UnixMilli() != 1770000001500 || got.NextTest.Unix() != 1770000030 ||
		got.RunWindow != time.Minute || got.Window != nil || got.Succeeded || got.Timeout != 30*time.Second || !got.LastChange.IsZero() {
		t.Errorf("got %+v", got)
	}
}

// Seconds, and nothing else, whoever reads the file.
func TestTimesAreStoredInUnixSeconds(t *testing.T) {
	store, _ := mustOpen(t, tempPath(t))
	record := storetest.Record("a")
	record.Timeout = time.Hour
	mustSave(t, store, record)
	var left, timeout, first, tally float64
	var kinds string
	err := store.db.QueryRow(`SELECT next_test_time - last_state_change, timeout_duration,
		json_extract(failure_window_json, '$[0]'), json_extract(window_json, '$[1][0]'),
		typeof(next_test_time) || typeof(last_state_change) || typeof(window_duration) || typeof(updated_at)
		FROM circuit_breaker_states WHERE failure_count = 2`).Scan(&left, &timeout, &first, &tally, &kinds)
	if err != nil {
		t.Fatal(err)
	}
	if left != 30 || timeout != 3600 || first != 1770091503.123456 || tally != 1770091501.123456 || kinds != "realrealrealreal" {
		t.Errorf("%v s left, timeout %v s, first failure %f, last tally %f, types %s", left, timeout, first, tally, kinds)
	}
}

// A mistake elsewhere must not put a credential on disk.
func TestPasswordNeverReachesTheFile(t *testing.T) {
	path := tempPath(t)
	store, _ := mustOpen(t, path)
	record := storetest.Record("http://user:s3cret@10.0.0.1:8080")
	if err := store.Save(t.Context(), []storage.Record{record}); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("id: err = %v, want a refusal that does not repeat it", err)
	}
	record = storetest.Record("a")
	record.Cause = "user:s3cret"
	if err := store.Save(t.Context(), []storage.Record{record}); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("cause: err = %v, want a refusal that does not repeat it", err)
	}
	mustClose(t, store)
	if content, err := os.ReadFile(path); err != nil || bytes.Contains(content, []byte("s3cret")) {
		t.Errorf("the password is in the file (%v)", err)
	}
}

func TestForeignSaltIsReplaced(t *testing.T) {
	store, _ := mustOpen(t, tempPath(t))
	for _, value := range []any{"text that is thirty-two bytes...", []byte("short"), nil} {
		mustExec(t, store.db, "INSERT OR REPLACE INTO meta VALUES ('salt', ?)", value)
		if salt, err := store.Salt(t.Context()); err != nil || len(salt) != storage.SaltSize || bytes.Contains(salt, []byte("text")) {
			t.Errorf("after %v: salt %q, %v", value, salt, err)
		}
	}
}
