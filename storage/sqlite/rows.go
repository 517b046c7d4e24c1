package sqlite

import (
	"database/sql"
	"errors"
	"time"

	"swivel/storage"
)

const selectRows = `SELECT proxy_id, state, failure_window_json, next_test_time, last_state_change,
	failure_threshold, window_duration, timeout_duration, created_at, updated_at,
	generation, opens_in_row, cause, suspicions, probe_wins,
	window_json, recent, succeeded, misses
	FROM circuit_breaker_states WHERE scope = 'proxy'`

// failure_count is for people; what is loaded are the failures themselves.
const upsertRow = `INSERT INTO circuit_breaker_states (proxy_id, state, failure_count, failure_window_json,
	next_test_time, last_state_change, failure_threshold, window_duration, timeout_duration,
	created_at, updated_at, generation, opens_in_row, cause, suspicions, probe_wins,
	window_json, recent, succeeded, misses)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (proxy_id) DO UPDATE SET state = excluded.state, failure_count = excluded.failure_count,
	failure_window_json = excluded.failure_window_json, next_test_time = excluded.next_test_time,
	last_state_change = excluded.last_state_change, failure_threshold = excluded.failure_threshold,
	window_duration = excluded.window_duration, timeout_duration = excluded.timeout_duration,
	updated_at = excluded.updated_at, generation = excluded.generation, opens_in_row = excluded.opens_in_row,
	cause = excluded.cause, suspicions = excluded.suspicions, probe_wins = excluded.probe_wins,
	window_json = excluded.window_json, recent = excluded.recent, succeeded = excluded.succeeded,
	misses = excluded.misses`

// rehearsal is what an opened store writes and takes back, with the statement
// that will write the real records.
var rehearsal = []storage.Record{{ProxyID: "rehearsal", State: storage.StateClosed}}

var errRehearsal = errors.New("rehearsal ends")

// upsert writes the records with the prepared upsertRow, all with one time
// stamp.
func upsert(insert *sql.Stmt, records []storage.Record, now time.Time) error {
	defer insert.Close() // ends its part in the transaction, not the statement
	stamp := toSeconds(now)
	for i := range records {
		r := &records[i]
		_, err := insert.Exec(r.ProxyID, r.State, len(r.Failures), toStamps(r.Failures),
			toSeconds(r.NextTest), toSeconds(r.LastChange), r.Threshold, r.RunWindow.Seconds(), r.Timeout.Seconds(),
			stamp, stamp, r.Generation, r.OpensInRow, r.Cause, r.Suspicions, r.ProbeWins,
			toTallies(r.Window), r.Recent, r.Succeeded, r.Misses)
		if err != nil {
			return err
		}
	}
	return nil
}

func decodeRecord(d *decoder) (storage.Record, error) {
	record := storage.Record{ // in the order of the columns
		ProxyID:    d.text("proxy_id"),
		State:      d.text("state"),
		Failures:   d.stamps("failure_window_json"),
		NextTest:   d.time("next_test_time"),
		LastChange: d.time("last_state_change"),
		Threshold:  d.count("failure_threshold"),
		RunWindow:  d.duration("window_duration"),
		Timeout:    d.duration("timeout_duration"),
		CreatedAt:  d.time("created_at"),
		UpdatedAt:  d.time("updated_at"),
		Generation: uint32(d.count("generation")),
		OpensInRow: d.count("opens_in_row"),
		Cause:      d.text("cause"),
		Suspicions: d.count("suspicions"),
		ProbeWins:  d.count("probe_wins"),
		Window:     d.tallies("window_json"),
		Recent:     d.text("recent"),
		Succeeded:  d.flag("succeeded"),
		Misses:     d.count("misses"),
	}
	if d.err != nil {
		return storage.Record{}, d.err
	}
	return record, record.Validate()
}
