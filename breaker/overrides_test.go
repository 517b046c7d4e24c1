package breaker_test

import (
	"strings"
	"testing"
	"time"

	"swivel/breaker"
)

func TestOverridesReplaceOnlyWhatTheyName(t *testing.T) {
	base := breaker.DefaultSettings()
	for _, c := range []struct {
		key, value string
		edit       func(*breaker.Settings)
	}{
		{"consecutive_failures", "3", func(s *breaker.Settings) { s.ConsecutiveFailures = 3 }},
		{"run_window", "90", func(s *breaker.Settings) { s.RunWindow = 90 * time.Second }},
		{"open_timeout", "1m30s", func(s *breaker.Settings) { s.OpenTimeout = 90 * time.Second }},
		{"max_open_timeout", "2h", func(s *breaker.Settings) { s.MaxOpenTimeout = 2 * time.Hour }},
		{"jitter", "0", func(s *breaker.Settings) { s.Jitter = 0 }},
		{"jitter", "0.25", func(s *breaker.Settings) { s.Jitter = 0.25 }},
		{"probe_successes", "1", func(s *breaker.Settings) { s.ProbeSuccesses = 1 }},
		{"refused_timeout", "0.5", func(s *breaker.Settings) { s.RefusedTimeout = 500 * time.Millisecond }},
		{"consecutive_failures", "0", func(s *breaker.Settings) { s.ConsecutiveFailures = 0 }},
		{"window", "2m", func(s *breaker.Settings) { s.Window = 2 * time.Minute }},
		{"min_samples", "50", func(s *breaker.Settings) { s.MinSamples = 50 }},
		{"error_ratio", "1", func(s *breaker.Settings) { s.ErrorRatio = 1 }},
		{"latency_limit", "0.8", func(s *breaker.Settings) { s.LatencyLimit = 800 * time.Millisecond }},
		{"slow_start", "0", func(s *breaker.Settings) { s.SlowStart = 0 }},
	} {
		t.Run(c.key, func(t *testing.T) {
			var o breaker.Overrides
			if known, err := o.Set(c.key, c.value); !known || err != nil {
				t.Fatalf("Set(%s, %s) = %v, %v", c.key, c.value, known, err)
			}
			want := base
			c.edit(&want)
			if got := base.With(o); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if o == (breaker.Overrides{}) {
				t.Error("compares equal to no overrides")
			}
		})
	}
}

func TestZeroOverridesChangeNothing(t *testing.T) {
	s := breaker.DefaultSettings()
	if got := s.With(breaker.Overrides{}); got != s {
		t.Errorf("got %+v, want %+v", got, s)
	}
}

func TestKeysOfOthersAreLeftAlone(t *testing.T) {
	var o breaker.Overrides
	for _, key := range []string{"weight", "", "Open_Timeout", "outcomes"} {
		if known, err := o.Set(key, "nonsense"); known || err != nil {
			t.Errorf("Set(%q) = %v, %v, want an unknown key and no error", key, known, err)
		}
	}
}

func TestBadOverrideSaysWhatIsWantedAndSetsNothing(t *testing.T) {
	const duration = ": want a duration such as 30s, more than 0"
	for _, c := range []struct{ key, value, want string }{
		{"open_timeout", "", duration},
		{"open_timeout", "0", duration},
		{"open_timeout", "-5s", duration},
		{"run_window", "soon", duration},
		{"run_window", "NaN", duration},
		{"max_open_timeout", "1e300", duration},
		{"max_open_timeout", "inf", duration},
		{"refused_timeout", "1e-12", duration},
		{"refused_timeout", "99999h", duration},
		{"consecutive_failures", "-1", ": want a whole number from 0, which is off, to 1000"},
		{"consecutive_failures", "2.5", ": want a whole number from 0"},
		{"min_samples", "0", ": want a whole number from 1"},
		{"error_ratio", "0", ": want a number from 0 to 1 but not 0"},
		{"error_ratio", "40", ": want a number from 0 to 1"},
		{"window", "0", duration},
		{"latency_limit", "-1s", ": want a duration such as 30s, 0 for off"},
		{"latency_limit", "1e-12", ": want a duration such as 30s, 0 for off"},
		{"slow_start", "99999h", ": want a duration such as 30s, 0 for off"},
		{"probe_successes", "99999999999999999999", ": want a whole number from 1"},
		{"jitter", "10%", ": want a number from 0 to 1"},
		{"jitter", "NaN", ": want a number from 0 to 1"},
		{"jitter", "1.01", ": want a number from 0 to 1"},
	} {
		var o breaker.Overrides
		known, err := o.Set(c.key, c.value)
		if !known || err == nil || !strings.HasPrefix(err.Error(), c.key+c.want) {
			t.Errorf("Set(%s, %q) = %v, %v, want %s%s", c.key, c.value, known, err, c.key, c.want)
		}
		if o != (breaker.Overrides{}) {
			t.Errorf("Set(%s, %q) changed the overrides", c.key, c.value)
		}
	}
}

func TestOverridesThatDoNotFitTheRestAreFoundByValidate(t *testing.T) {
	var o breaker.Overrides
	if _, err := o.Set("open_timeout", "1h"); err != nil {
		t.Fatal(err)
	}
	if err := breaker.DefaultSettings().With(o).Validate(); err == nil {
		t.Error("an open_timeout above the maximum was accepted")
	}
}

func TestOverrideOfZeroReplacesADefaultThatIsNot(t *testing.T) {
	s := breaker.DefaultSettings()
	s.LatencyLimit = time.Second
	var o breaker.Overrides
	for _, key := range []string{"latency_limit", "consecutive_failures", "slow_start", "jitter"} {
		if _, err := o.Set(key, "0"); err != nil {
			t.Fatal(err)
		}
	}
	s = s.With(o)
	if s.LatencyLimit != 0 || s.ConsecutiveFailures != 0 || s.SlowStart != 0 || s.Jitter != 0 {
		t.Errorf("got %+v, want four settings off", s)
	}
}
