package daemon

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/swiveltest"
	"swivel/pool/upstream/leaktest"
	"swivel/storage/sqlite"
)

func TestForgottenProxiesArePrunedAndStartIsQuick(t *testing.T) {
	t.Parallel()
	old, young := 1_000_000.0, 1000.0
	if swiveltest.RaceDetector { // it takes four times as long then
		old /= 5
	}
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
	r.start()
	r.report("a", breaker.Verdict{Outcome: breaker.Refused})
	r.stop()
	r.exec("UPDATE circuit_breaker_states SET updated_at = 1000") // a member stays, however long it was quiet
	orphans := `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO circuit_breaker_states (proxy_id, state, failure_count, failure_window_json, next_test_time, last_state_change, updated_at, recent)
		SELECT printf(?, i), 'open', 5, '[1000,1001,1002,1003,1004]', ?, ?, ?, '-----' FROM n`
	day := 24 * time.Hour
	now := float64(time.Now().Unix())
	r.exec(orphans, old, "old%013d", now+100, now-31*day.Seconds(), now-31*day.Seconds())
	r.exec(orphans, young, "new%013d", now+100, now-29*day.Seconds(), now-29*day.Seconds())
	r.start()
	began := time.Now()
	r.stop() // does not wait for what can be done another day
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the stop took %v", took)
	}
	t.Logf("the stop took %v, %v are left", time.Since(began), r.number("SELECT count(*) FROM circuit_breaker_states"))
	began = time.Now()
	r.start()
	took := time.Since(began)
	t.Logf("the start took %v", took)
	if took > 5*time.Second { // under the race detector, beside other tests
		t.Error("that is too long")
	}
	r.eventually("the orphans are gone", func() bool {
		forgotten := 0.0
		for _, line := range r.log.lines("forgot proxies") {
			forgotten += line["rows"].(float64)
		}
		return forgotten == old
	})
	t.Logf("they were gone %v after it began", time.Since(began))
	if n := r.number("SELECT count(*) FROM circuit_breaker_states"); n != young+1 {
		t.Errorf("%v rows are left, want %v", n, young+1)
	}
	if s := r.snapshot("a"); s.State != breaker.Open {
		t.Errorf("a is %v", s.State)
	}
}

func TestRowsOfNonsenseCostNobodyElseTheirState(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=sound", "127.0.0.1:2 name=state", "127.0.0.1:3 name=times", "127.0.0.1:4 name=window",
		"127.0.0.1:5 name=untimed", "127.0.0.1:6 name=cause", "127.0.0.1:7 name=counts")
	r.start()
	ids := map[string]string{}
	for _, m := range r.pool.Proxies() {
		r.report(m.Spec.Name, breaker.Verdict{Outcome: breaker.Refused})
		ids[m.Spec.Name] = string(m.ID)
	}
	r.stop()
	r.database(func(db *sql.DB) {
		for name, set := range map[string]string{
			"state": "state = 'ajar'", "times": "next_test_time = 'soon'", "window": "window_json = '[[1,2]]'",
			"untimed": "next_test_time = NULL", "cause": "cause = 'whim'", "counts": "opens_in_row = 4000000000, probe_wins = 4000000000, suspicions = 4000000000, misses = 99",
		} {
			if _, err := db.Exec("PRAGMA ignore_check_constraints = on"); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec("UPDATE circuit_breaker_states SET "+set+" WHERE proxy_id = ?", ids[name]); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	})
	r.start()
	if lines := r.log.lines("rows of the database make no sense"); len(lines) != 1 || lines[0]["rows"] != 3.0 {
		t.Errorf("the log says %v", lines)
	}
	for name, want := range map[string]breaker.State{
		"sound": breaker.Open, "state": breaker.Closed, "times": breaker.Closed, "window": breaker.Closed,
		"untimed": breaker.Open, "cause": breaker.Open, "counts": breaker.Open,
	} {
		if s := r.snapshot(name); s.State != want {
			t.Errorf("%s is %v, want %v", name, s.State, want)
		}
	}
	for _, name := range []string{"untimed", "cause", "counts"} {
		b, now := r.proxy(name).Breaker(), time.Now()
		if wait := b.RetryAfter(now); wait > 17*time.Minute || !b.Resting() {
			t.Errorf("%s: rests for %v, and is not used: %v", name, wait, b.Resting())
		}
	}
}

func TestFileThatCannotBeWrittenIsOneIncident(t *testing.T) {
	r := newRig(t, scripted(t, "HTTP/1.1 200 OK\r\n\r\n", nothing)+" name=sound", "127.0.0.1:1 name=a weight=0.0001") // whom no client meets
	r.start()
	away := r.cfg.DB + ".away"
	r.rename(r.cfg.DB, away)
	r.report("a", breaker.Verdict{Outcome: breaker.Failure})
	r.eventually("the incident is logged", func() bool { return len(r.log.lines("cannot write the database")) > 0 })
	for _, o := range []breaker.Outcome{breaker.Success, breaker.Failure, breaker.Failure} {
		r.report("a", breaker.Verdict{Outcome: o})
		if status := r.connect("up.test:443"); status != 200 {
			t.Errorf("meanwhile a client got %d", status)
		}
	}
	r.report("a", breaker.Verdict{Outcome: breaker.Refused})
	r.ban("sound", "refused.test:443")
	r.eventually("it is tried again", func() bool { return r.journal.Stats().Failures >= 3 })
	if n := len(r.log.lines("cannot write the database")); n != 1 {
		t.Errorf("%d lines about one incident", n)
	}
	r.rename(away, r.cfg.DB)
	r.eventually("the end is logged", func() bool { return len(r.log.lines("the database can be written again")) == 1 })
	r.eventually("the newest state is stored", func() bool {
		return r.number("SELECT count(*) FROM circuit_breaker_states WHERE state = 'open' AND cause = 'refused'") == 1
	})
	r.eventually("the ban is stored", func() bool { return r.number("SELECT count(*) FROM bans") == 1 })
}

// A foreign lock is waited for, by nobody's client.
func TestClientsDoNotWaitForALockedDatabase(t *testing.T) {
	t.Parallel()
	r := newRig(t, scripted(t, "HTTP/1.1 200 OK\r\n\r\n", nothing)+" name=sound", "127.0.0.1:1 name=a")
	r.start()
	r.database(func(db *sql.DB) {
		lock(t, db)
		r.report("a", breaker.Verdict{Outcome: breaker.Refused})
		began := time.Now()
		for range 10 {
			if status := r.connect("up.test:443"); status != 200 {
				t.Errorf("a client got %d", status)
			}
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("ten clients took %v", took)
		}
	})
	r.eventually("the state is stored", func() bool {
		return r.number("SELECT count(*) FROM circuit_breaker_states WHERE state = 'open'") == 1
	})
	if n := len(r.log.lines("cannot write")); n != 0 {
		t.Errorf("a lock of a moment is logged %d times", n)
	}
}

func TestDamagedFileIsMovedAsideAndSaidSo(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	r.start()
	r.report("a", breaker.Verdict{Outcome: breaker.Refused})
	r.stop()
	text, err := os.ReadFile(r.cfg.DB)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1000; i < len(text); i++ {
		text[i] = byte(i * 7)
	}
	if err := os.WriteFile(r.cfg.DB, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r.start()
	lines := r.log.lines("the database was damaged")
	if len(lines) != 1 || lines[0]["level"] != "error" || lines[0]["damage"] == nil {
		t.Fatalf("the log says %v", lines)
	}
	moved, _ := lines[0]["moved_to"].(string)
	if kept, err := os.ReadFile(moved); err != nil || !bytes.Equal(kept, text) || filepath.Dir(moved) != filepath.Dir(r.cfg.DB) {
		t.Errorf("%s: %v", moved, err)
	}
	if s := r.snapshot("a"); s.State != breaker.Closed {
		t.Errorf("a is %v, from a damaged file", s.State)
	}
	r.report("a", breaker.Verdict{Outcome: breaker.Refused})
	r.restart()
	if s := r.snapshot("a"); s.State != breaker.Open || len(r.log.lines("the database was damaged")) != 1 {
		t.Errorf("a is %v after another start", s.State)
	}
}

// --db with the wrong file must not cost that file.
func TestFileOfSomebodyElseIsRefused(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	list, err := os.ReadFile(r.list)
	if err != nil {
		t.Fatal(err)
	}
	r.cfg.DB = r.list
	if _, err := r.open(); err == nil || !strings.HasPrefix(err.Error(), "db: "+r.list+" ") {
		t.Errorf("%v", err)
	}
	if now, err := os.ReadFile(r.list); err != nil || !bytes.Equal(now, list) {
		t.Errorf("the file is changed to %q (%v)", now, err)
	}
}

func TestSecondInstanceIsRefusedAndLeavesNothingOpen(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	r.start()
	r.report("a", breaker.Verdict{Outcome: breaker.Refused})
	r.eventually("all is open that will be", func() bool { return len(r.log.lines("ready")) > 0 })
	files := leaktest.OpenFiles(t)
	for range 3 {
		if _, err := r.open(); !errors.Is(err, sqlite.ErrInUse) || !strings.Contains(err.Error(), fmt.Sprint("pid ", os.Getpid())) {
			t.Errorf("%v", err)
		}
	}
	listen := r.cfg.Listen
	r.cfg.Listen = r.Addr().String()
	if _, err := r.open(); err == nil || !strings.Contains(err.Error(), "listen: cannot listen on "+r.cfg.Listen+": address already in use") {
		t.Errorf("%v", err)
	}
	r.cfg.Listen, r.cfg.Admin = listen, r.AdminAddr().String()
	if _, err := r.open(); err == nil || !strings.Contains(err.Error(), "admin: cannot listen on "+r.cfg.Admin+": address already in use") {
		t.Errorf("%v", err)
	}
	r.eventually("everything is closed again", func() bool { return leaktest.OpenFiles(t) <= files })
	if s := r.snapshot("a"); s.State != breaker.Open {
		t.Errorf("the first one has lost its state: %v", s.State)
	}
	r.cfg.Admin = "127.0.0.1:0"
	r.restart()
}

func TestAllProblemsOfTheListsAreToldAtOnce(t *testing.T) {
	r := newRig(t, "# nothing")
	missing := filepath.Join(t.TempDir(), "missing.txt")
	r.cfg.Proxies = []string{missing, r.list}
	_, err := r.open()
	var list *ListError
	if !errors.As(err, &list) || !strings.Contains(err.Error(), missing+": no such file") || !strings.Contains(err.Error(), r.list+": ") {
		t.Errorf("%v", err)
	}
	r.cfg.Proxies = nil
	if _, err := r.open(); !errors.As(err, &list) || !strings.Contains(err.Error(), "no list given") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(r.cfg.DB); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a database was made: %v", err)
	}
}

// A password with a mistake in it must not be told.
func TestSkippedLinesAreLoggedWithoutTheirContent(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a", "user:hush hush@127.0.0.1:2", "", "127.0.0.1:3 wieght=3", "127.0.0.1:1")
	r.start()
	lines := r.log.lines("line skipped")
	numbers := []any{}
	for _, line := range lines {
		numbers = append(numbers, line["line"])
	}
	if !slices.Equal(numbers, []any{2.0, 4.0}) || strings.Contains(r.log.String(), "hush") {
		t.Errorf("the log says %v", lines)
	}
	if pool := r.log.lines("pool"); len(pool) != 1 || pool[0]["proxies"] != 1.0 || pool[0]["skipped"] != 2.0 || pool[0]["merged"] != 1.0 {
		t.Errorf("the log says %v", pool)
	}
}
