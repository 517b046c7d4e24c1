package config

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestSyntaxErrorNamesTheRightLine(t *testing.T) {
	for text, want := range map[string]string{
		"proxies: [http://host/list?key=x]\n":                             "line 1: did not find expected ',' or ']'; what holds",
		"db: x\nproxies: [http://host/list?key=x]\n":                      "line 2: did not find expected ',' or ']'; what holds",
		"db: x\nlog:\n  level: info\nproxies: [http://host/list?key=x]\n": "line 4: did not find expected ',' or ']'",
		"db: x\nbreaker:\n  window: 1s\n bad: x\n":                        "line 4: did not find expected key",
		"db: x\nlisten: a: b\n":                                           "line 2: mapping values are not allowed",
		"listen: a: b\n":                                                  "line 1: mapping values are not allowed",
		"db: x\nbreaker:\n\twindow: 1s\n":                                 "line 3: found character that cannot start any token; lines are indented with blanks",
		"listen 127.0.0.1:1\n":                                            "line 1: want keys with a colon",
		"# proxies\n- proxies.txt\n":                                      "line 2: want keys with a colon",
		"db: a\ndb: b\n":                                                  "line 2: db: stands in line 1 already",
		"\x00\xff\xfe":                                                    "control characters are not allowed",
	} {
		_, err := Load(Default(), file(t, text), environment{}.lookup)
		if err == nil || !strings.Contains(err.Error(), ".yaml: "+want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		} else if strings.Contains(err.Error(), "config.") || strings.Contains(err.Error(), "!!") {
			t.Errorf("%q: speaks of types: %v", text, err)
		}
	}
}

func TestListOfOneNeedsNoBrackets(t *testing.T) {
	c, err := Load(Default(), file(t, "proxies: https://vendor.example/list?a=1,2\nbans:\n  statuses: 403\n"), environment{}.lookup)
	if err != nil || !reflect.DeepEqual(c.Proxies, []string{"https://vendor.example/list?a=1,2"}) || !reflect.DeepEqual(c.Bans.Statuses, []int{403}) {
		t.Errorf("%v: %q, %v", err, c.Proxies, c.Bans.Statuses)
	}
}

func TestAnchorsAreFollowed(t *testing.T) {
	c, err := Load(Default(), file(t, "listen: &here 127.0.0.1:1\nadmin: *here\nsegment: &limits {min_samples: 7}\nbreaker:\n  window: 2m\n  <<: [*limits]\n"), environment{}.lookup)
	if err != nil || c.Admin != "127.0.0.1:1" || c.Breaker.MinSamples != 7 || c.Breaker.Window.String() != "2m0s" {
		t.Errorf("%v: %+v", err, c)
	}
}

func TestMergedKeysYieldWhereverTheyStand(t *testing.T) {
	c, err := Load(Default(), file(t, "segment: &limits {min_samples: 7}\nbreaker:\n  min_samples: 8\n  <<: *limits\n"), environment{}.lookup)
	if err != nil || c.Breaker.MinSamples != 8 {
		t.Errorf("%v: %+v", err, c.Breaker)
	}
}

func TestAnchorThatHoldsItselfIsRefused(t *testing.T) {
	for _, text := range []string{"breaker: &a\n  <<: *a\n", "proxies: &a [*a]\n", "breaker: &a {window: *a}\n", "db: &a [*a]\n"} {
		if c, err := Load(Default(), file(t, text), environment{}.lookup); err == nil {
			t.Errorf("%q: accepted as %+v", text, c)
		}
	}
}

func TestNothingIsKnownOfWhatCouldNotBeRead(t *testing.T) {
	for text, want := range map[string][2]bool{ // whether nothing is known of anything, and of proxies
		"proxies: [a?b]\n":                {true, true},
		"proxies: {a: b}\n":               {false, true},
		"grace: soon\nstrategy: fast\n":   {false, false},
		"breaker: {window: 1s}\nlog: x\n": {false, false},
	} {
		_, err := Load(Default(), file(t, text), environment{}.lookup)
		if err == nil || Misread(err, "") != want[0] || Misread(err, "proxies") != want[1] {
			t.Errorf("%q: %v, %v, %v", text, err, Misread(err, ""), Misread(err, "proxies"))
		}
	}
	if Misread(nil, "") {
		t.Error("without an error")
	}
}

// The other key of the two would else stay, and two tokens are refused.
func TestTokenOfTheEnvironmentWinsOverTheOtherKeyOfTheFile(t *testing.T) {
	byFile, byWord := "admin_token_file: f\n", "admin_token: w\n"
	for _, c := range []struct {
		text       string
		env        environment
		word, file string
	}{
		{byFile, environment{"SWIVEL_ADMIN_TOKEN": "e"}, "e", ""},
		{byWord, environment{"SWIVEL_ADMIN_TOKEN_FILE": "e"}, "", "e"},
		{byFile, environment{"SWIVEL_ADMIN_TOKEN": ""}, "", "f"},
		{byWord, environment{"SWIVEL_ADMIN_TOKEN_FILE": ""}, "w", ""},
		{byFile + byWord, environment{}, "w", "f"},
		{"", environment{"SWIVEL_ADMIN_TOKEN": "e", "SWIVEL_ADMIN_TOKEN_FILE": "e"}, "e", "e"},
	} {
		got, err := Load(Default(), file(t, c.text), c.env.lookup)
		if err != nil || got.AdminToken.Reveal() != c.word || got.AdminTokenFile != c.file {
			t.Errorf("%q, %v: %q, %q, %v", c.text, c.env, got.AdminToken.Reveal(), got.AdminTokenFile, err)
		}
	}
}

func TestNumberWithALeadingZeroWasReadAsOctal(t *testing.T) {
	for text, want := range map[string]string{
		"breaker: {consecutive_failures: 010}\n":   "breaker.consecutive_failures: want a whole number without zeros",
		"breaker: {consecutive_failures: 08}\n":    "breaker.consecutive_failures: want a whole number without zeros",
		"breaker: {consecutive_failures: +0_10}\n": "breaker.consecutive_failures: want a whole number without zeros",
		"breaker: {error_ratio: 01}\n":             "breaker.error_ratio: want a number without zeros",
		"bans: {statuses: [403, 0620]}\n":          "bans.statuses: want a whole number without zeros",
	} {
		_, err := Load(Default(), file(t, text), environment{}.lookup)
		if err == nil || !strings.Contains(err.Error(), "line 1: "+want+" in front") {
			t.Errorf("%q: %v", text, err)
		}
	}
	c, err := Load(Default(), file(t, "breaker: {consecutive_failures: 0x10, min_samples: 0, error_ratio: 0.5}\ngrace: 010\n"), environment{}.lookup)
	if b := c.Breaker; err != nil || b.ConsecutiveFailures != 16 || b.MinSamples != 0 || b.ErrorRatio != 0.5 || time.Duration(c.Grace) != 10*time.Second {
		t.Errorf("%v: %+v, grace %v", err, b, c.Grace)
	}
}

func TestPasswordThatBeginsAsAnAnchorWasQuoted(t *testing.T) {
	_, err := Load(Default(), file(t, "db: a\nadmin_token: *s3cret\n"), environment{}.lookup)
	if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), ": unknown anchor; what begins with * ") {
		t.Error(err)
	}
}
