package faults

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// twoUpstreams are the list of a pool in which breakers change.
func twoUpstreams(t *testing.T) (lines []string, turns *upstream) {
	t.Helper()
	good, turns := newUpstream(t, sound), newUpstream(t, sound)
	return []string{good.hostPort + " name=good", turns.hostPort + " name=turns"}, turns
}

var quickBreakers = []string{"SWIVEL_BREAKER_OPEN_TIMEOUT=300ms", "SWIVEL_BREAKER_MAX_OPEN_TIMEOUT=600ms", "SWIVEL_BREAKER_CONSECUTIVE_FAILURES=1", "SWIVEL_BREAKER_SLOW_START=1ms"}

// changes lets breakers open and close until so many more have, under traffic
// that nobody may be hurt in.
func changes(t *testing.T, d daemon, turns *upstream, more int) {
	t.Helper()
	defer turns.follow(sound)
	want := len(d.Lines(t, "breaker")) + more
	for n := 0; len(d.Lines(t, "breaker")) < want; n++ {
		turns.follow([]func(*visit){sound, gateway}[n/40%2])
		if _, err := (client{proxy: d.Listen}).visit("t.test:443"); err != nil {
			t.Fatalf("a client was hurt: %v", err)
		}
	}
}

// TestDatabaseLocked: another program holds the write lock for long.
func TestDatabaseLocked(t *testing.T) {
	t.Parallel()
	lines, turns := twoUpstreams(t)
	d := startDaemon(t, swiveltest.Setup{Lines: lines, Env: quickBreakers})
	changes(t, d, turns, 4)
	held := either(7*time.Second, 30*time.Second) // more than the five seconds for which a write waits
	other := openDB(t, d.DB)
	defer other.Close()
	if _, err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	slowest, visits := time.Duration(0), 0
	for over := time.Now().Add(held); time.Now().Before(over); visits++ {
		turns.follow([]func(*visit){sound, gateway}[visits/40%2])
		began := time.Now()
		if _, err := (client{proxy: d.Listen}).visit("t.test:443"); err != nil {
			t.Fatalf("a client was hurt: %v", err)
		}
		slowest = max(slowest, time.Since(began))
		pass(5 * time.Millisecond)
	}
	turns.follow(sound)
	if _, err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	swiveltest.Eventually(t, 15*time.Second, "the database is written again", func() bool { return len(d.Lines(t, recovered)) == 1 })
	if n := len(d.Lines(t, incident)); n != 1 {
		t.Errorf("%d lines about one incident", n)
	}
	if slowest > 2*time.Second {
		t.Errorf("a visit took %v while the database was locked", slowest)
	}
	d.nothingIsLost(t)
	note(t, "locked by another", "for %v: %d visits meanwhile, the slowest %v; one line, nothing lost", held, visits, slowest.Round(time.Millisecond))
}

// TestDatabaseFile: the file is moved, replaced, truncated or deleted under the
// daemon. It goes on serving, says so once, stops in order, and the next one
// starts; what is known is lost only where the file is.
func TestDatabaseFile(t *testing.T) {
	t.Parallel()
	harms := map[string]func(db string) error{
		"deleted":            os.Remove,
		"all deleted":        func(db string) error { return removeAll(db, db+"-wal", db+"-shm", db+".lock") },
		"replaced":           func(db string) error { return replace(db, make([]byte, 8192)) },
		"replaced by a text": func(db string) error { return replace(db, []byte("proxy,port\n")) },
		"a directory": func(db string) error {
			if err := os.Remove(db); err != nil {
				return err
			}
			return os.Mkdir(db, 0o700)
		},
		"truncated":     func(db string) error { return os.Truncate(db, 0) },
		"cut":           func(db string) error { return os.Truncate(db, 5000) },
		"log truncated": func(db string) error { return os.Truncate(db+"-wal", 0) },
		"log deleted":   func(db string) error { return os.Remove(db + "-wal") },
		"index deleted": func(db string) error { return os.Remove(db + "-shm") },
		"noise in the middle": func(db string) error {
			f, err := os.OpenFile(db, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteAt([]byte(strings.Repeat("\xa5", 4096)), 4096)
			return err
		},
	}
	short := []string{"replaced", "truncated", "log deleted", "noise in the middle"}
	for name, harm := range harms {
		if !*long && !slices.Contains(short, name) {
			continue
		}
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			lines, turns := twoUpstreams(t)
			s := swiveltest.Setup{Dir: t.TempDir(), Lines: lines, Env: quickBreakers}
			first := startDaemon(t, s)
			changes(t, first, turns, 2)
			first.Stop(t) // from here on the file is complete, and the log new
			d := startDaemon(t, s)
			changes(t, d, turns, 4)
			swiveltest.Eventually(t, 15*time.Second, "everything is stored", func() bool { return d.Metric(t, "swivel_journal_pending_records") == 0 })
			if err := harm(d.DB); err != nil {
				t.Fatal(err)
			}
			changes(t, d, turns, 6)
			if n := len(d.Lines(t, incident)); n > 1 {
				t.Errorf("%d lines about one incident", n)
			}
			told := len(d.Lines(t, incident)) == 1
			if name == "log deleted" || name == "index deleted" {
				d.nothingIsLost(t) // as a kill would leave it
			}
			code := d.Stop(t)
			if told != (code == 1) && code != 0 {
				t.Errorf("exit code %d, and the incident was told: %v", code, told)
			}
			if info, err := os.Stat(d.DB); err == nil && (info.IsDir() || strings.Contains(name, "text")) {
				note(t, "under the daemon", "told: %v; exit code %d; then refused, as it should be", told, code)
				return
			}
			again := startDaemon(t, s)
			changes(t, again, turns, 2)
			again.nothingIsLost(t)
			aside := len(again.Lines(t, "the database was damaged")) > 0
			note(t, "under the daemon", "told: %v; exit code %d; then starts, damage found: %v", told, code, aside)
		})
	}
}

func removeAll(files ...string) error {
	for _, file := range files {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

func replace(file string, by []byte) error {
	next := filepath.Join(filepath.Dir(file), "next")
	if err := os.WriteFile(next, by, 0o600); err != nil {
		return err
	}
	return os.Rename(next, file)
}

// asNobody is for a process without root's rights, if this one has them.
func asNobody() *syscall.SysProcAttr {
	if os.Geteuid() != 0 {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}
