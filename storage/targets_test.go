package storage_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"swivel/storage"
	"swivel/storage/storetest"
)

func TestTargetOfNonsenseIsNotStored(t *testing.T) {
	longest := strings.Repeat("a", 254) + ":65535"
	for name, c := range map[string]struct {
		target string
		sound  bool
	}{
		"name":            {"x.example:443", true},
		"address":         {"[fe80::1%eth0]:443", true},
		"longest":         {longest, true},
		"too long":        {longest + "0", false},
		"empty":           {"", false},
		"has a password":  {"u:s3cret@x.example:443", false},
		"is a URL":        {"http://x.example/s3cret", false},
		"breaks the log":  {"s3cret\nx:1", false},
		"has a blank":     {"s3cret x:1", false},
		"is no text":      {"s3cret\xff:1", false},
		"hidden sign":     {"s3cret\u200bx:1", false},
		"line separation": {"s3cret\u2028x:1", false},
	} {
		for _, err := range []error{storetest.Ban("a", c.target).Validate(), storetest.Rest(c.target).Validate()} {
			if (err == nil) != c.sound {
				t.Errorf("%s: err = %v, want sound %v", name, err, c.sound)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: the error repeats it: %v", name, err)
			}
		}
	}
}

func TestBanWithoutAnEndIsNotStored(t *testing.T) {
	for name, until := range map[string]time.Time{"none": {}, "milliseconds": time.Unix(1_770_000_000_000, 0)} {
		ban, rest := storetest.Ban("a", "x:1"), storetest.Rest("x:1")
		ban.Until, rest.Until = until, until
		if ban.Validate() == nil || rest.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	rest := storetest.Rest("x:1")
	rest.Rest = -1
	if rest.Validate() == nil {
		t.Error("a negative rest is valid")
	}
}

// The caller goes on using what it hands over.
func TestLastingLeavesItsArgumentsAlone(t *testing.T) {
	shorter, longer := storetest.Ban("a", "x:1"), storetest.Ban("a", "x:1")
	longer.Until = longer.Until.Add(time.Second)
	bans := []storage.Ban{{}, shorter, longer, shorter}
	before := slices.Clone(bans)
	kept, _ := storage.Lasting(bans, nil)
	if !slices.Equal(kept, []storage.Ban{longer}) || !slices.Equal(bans, before) {
		t.Errorf("kept %v of %v", kept, bans)
	}
}
