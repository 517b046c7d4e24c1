package config

import (
	"slices"
	"strings"
	"testing"
)

func TestVariablesThatChangeNothingAreNamed(t *testing.T) {
	got := Misspelt([]string{
		"SWIVEL_BREAKER_OPEN_TIMOUT=4", "SWIVEL_VENDOR_PASSWORD=s3cret", "SWIVEL_ADMINTOKEN=s3cret",
		"SWIVEL_BREAKER_OPEN_TIMEOUT=4", "SWIVEL_ADMIN_TOKEN=x", "SWIVEL_CONFIG=x", "SWIVEL_FLEET", "HOME=/", "swivel_db=x",
		"SWIVEL_SERVICE_HOST=10.0.0.1", "SWIVEL_PORT=tcp://10.0.0.1:8484", "SWIVEL_PORT_8484_TCP=tcp://10.0.0.1:8484",
	})
	want := []string{
		"SWIVEL_ADMINTOKEN is no variable of swivel, and changes nothing; is SWIVEL_ADMIN_TOKEN meant?",
		"SWIVEL_BREAKER_OPEN_TIMOUT is no variable of swivel, and changes nothing; is SWIVEL_BREAKER_OPEN_TIMEOUT meant?",
		"SWIVEL_VENDOR_PASSWORD is no variable of swivel, and changes nothing",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestMisspeltKeyIsToldTheRightOne(t *testing.T) {
	_, err := Load(Default(), file(t, "breaker: {open_timout: 4}\nlistn: 127.0.0.1:1\nbrekar: {window: 1s}\nsomething: else\nopen_timeout: 1s\nmin_samples: 3\nlimits: {listen: x}\nbreaker.window: 5s\n"), environment{}.lookup)
	for _, want := range []string{
		"unknown key breaker.open_timout; is breaker.open_timeout meant?", "unknown key listn; is listen meant?",
		"unknown key brekar; is breaker meant?", "unknown key something; swivel config print shows all that there are",
		"unknown key open_timeout; is breaker.open_timeout meant?", "unknown key min_samples; is breaker.min_samples or segment.min_samples meant?",
		"unknown key limits.listen; is listen meant?", "unknown key breaker.window; write window indented in a line below breaker:",
	} {
		if err == nil || !strings.Contains(err.Error()+"\n", want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}
