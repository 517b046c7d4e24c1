package storage_test

import (
	"strings"
	"testing"
	"time"

	"swivel/storage"
	"swivel/storage/storetest"
)

func TestPauseOfNonsenseIsNotStored(t *testing.T) {
	if err := storetest.Pause("a").Validate(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*storage.Pause){
		"no id":                  func(p *storage.Pause) { p.ProxyID = "" },
		"id has a password":      func(p *storage.Pause) { p.ProxyID = "u:s3cret@h" },
		"reason breaks the log":  func(p *storage.Pause) { p.Reason = "s3cret\nlevel=error" },
		"reason steers terminal": func(p *storage.Pause) { p.Reason = "s3cret\x1b[2J" },
		"reason is no text":      func(p *storage.Pause) { p.Reason = "s3cret\xff" },
		"reason is endless":      func(p *storage.Pause) { p.Reason = strings.Repeat("s3cret", 200) },
		"caller is endless":      func(p *storage.Pause) { p.By = strings.Repeat("s3cret", 200) },
		"at no time":             func(p *storage.Pause) { p.At = time.Time{} },
		"at milliseconds":        func(p *storage.Pause) { p.At = time.Unix(1_770_000_000_000, 0) },
	} {
		pause := storetest.Pause("a")
		spoil(&pause)
		switch err := pause.Validate(); {
		case err == nil:
			t.Errorf("%s: no error", name)
		case strings.Contains(err.Error(), "s3cret"):
			t.Errorf("%s: the error repeats it: %v", name, err)
		}
	}
}
