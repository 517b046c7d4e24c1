package sqlite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swivel/storage/storetest"
)

func TestStateSurvivesReopening(t *testing.T) {
	path := tempPath(t)
	store, opened := mustOpen(t, path)
	if opened.Path != path || opened.MovedTo != "" || opened.Damage != nil {
		t.Errorf("opened %+v", opened)
	}
	mustSave(t, store, storetest.Record("a"))
	salt, err := store.Salt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, store)

	again, _ := mustOpen(t, path)
	if got := mustLoad(t, again)["a"]; !got.NextTest.Equal(storetest.Epoch.Add(30 * time.Second)) {
		t.Errorf("next test %v", got.NextTest)
	}
	// Ids are keyed with the salt: another one and every proxy is a stranger.
	if second, err := again.Salt(t.Context()); err != nil || !bytes.Equal(salt, second) {
		t.Errorf("salt %x became %x, %v", salt, second, err)
	}
}

func TestSettingsReachTheConnection(t *testing.T) {
	store, _ := mustOpen(t, tempPath(t))
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "1", "foreign_keys": "1",
		"busy_timeout": "5000", "journal_size_limit": walLimit,
	} {
		var got string
		if err := store.db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", pragma, got, err, want)
		}
	}
}

func TestFileIsForTheOwnerOnly(t *testing.T) {
	path := tempPath(t)
	store, _ := mustOpen(t, path)
	mustSave(t, store, storetest.Record("a"))
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		info, err := os.Stat(path + suffix)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("state.db%s: mode %v, %v", suffix, info.Mode(), err)
		}
	}
}

// Whoever starts a new version, does not like it and goes back must find a
// refusal and the file as the new version left it.
func TestNewerSchemaIsRefusedAndLeftAlone(t *testing.T) {
	path := filled(t)
	db := other(t, path)
	mustExec(t, db, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, 1)")
	db.Close()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, opened, err := Open(t.Context(), path, time.Now)
	if !errors.Is(err, ErrNewerSchema) || !strings.Contains(err.Error(), "9000") {
		t.Errorf("err = %v, want ErrNewerSchema with the version", err)
	}
	after, _ := os.ReadFile(path)
	if opened.MovedTo != "" || !bytes.Equal(before, after) {
		t.Errorf("the file was touched (moved to %q)", opened.MovedTo)
	}
}

func TestUnwritablePathIsRefusedAtStart(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, advice string }{
		"empty path":                {"", "name a file"},
		"directory is missing":      {filepath.Join(dir, "missing", "state.db"), "create it"},
		"path leads through a file": {filepath.Join(file, "state.db"), "is not a directory"},
		"path is a directory":       {dir, "name a file in it"},
		"path is a device":          {os.DevNull, "choose another path"},
		"file system refuses":       {"/proc/state.db", "choose another path"},
	} {
		t.Run(name, func(t *testing.T) {
			store, _, err := Open(t.Context(), c.path, time.Now)
			if store != nil || !errors.Is(err, ErrNotWritable) {
				t.Fatalf("err = %v, want ErrNotWritable", err)
			}
			text := err.Error()
			if !strings.Contains(text, c.advice) || !strings.Contains(text, c.path) || strings.Contains(text, "\n") {
				t.Errorf("%q: want one line with the path and %q", text, c.advice)
			}
		})
	}
}

// The link and the file would otherwise have a lock each, and two instances
// would meet in one file.
func TestLinkToTheFileIsTheSameFile(t *testing.T) {
	path := tempPath(t)
	_, _ = mustOpen(t, path)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(t.Context(), link, time.Now); !errors.Is(err, ErrInUse) {
		t.Errorf("err = %v, want ErrInUse", err)
	}
}

func TestFailedOpenReleasesTheLock(t *testing.T) {
	path := filled(t)
	db := other(t, path)
	mustExec(t, db, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, 1)")
	if _, _, err := Open(t.Context(), path, time.Now); !errors.Is(err, ErrNewerSchema) {
		t.Fatal(err)
	}
	mustExec(t, db, "DELETE FROM goose_db_version WHERE version_id = 9000")
	db.Close()
	if store, _ := mustOpen(t, path); len(mustLoad(t, store)) != 300 {
		t.Error("records are missing")
	}
}

// The file is sound, just not ours to use: it must stay where it is.
func TestSchemaThatIsNotOursIsRefusedAndLeftAlone(t *testing.T) {
	path := filled(t)
	db := other(t, path)
	mustExec(t, db, "ALTER TABLE circuit_breaker_states RENAME TO theirs")
	db.Close()
	store, opened, err := Open(t.Context(), path, time.Now)
	if store != nil || err == nil || !strings.Contains(err.Error(), path) || opened.MovedTo != "" {
		t.Errorf("opened %+v, err = %v; want an error that names the file", opened, err)
	}
	if store, _, err := Open(t.Context(), path, time.Now); store != nil || errors.Is(err, ErrInUse) {
		t.Errorf("second try: err = %v", err)
	}
}
