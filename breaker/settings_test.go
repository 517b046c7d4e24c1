package breaker_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"swivel/breaker"
)

func TestDefaultSettingsAreValid(t *testing.T) {
	s := breaker.DefaultSettings()
	for name, s := range map[string]breaker.Settings{"default": s, "rotating": s.Rotating(), "segment": s.Segment()} {
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAllProblemsOfSettingsAreNamedAtOnce(t *testing.T) {
	err := breaker.Settings{
		ConsecutiveFailures: -1, LatencyLimit: -1, Jitter: math.NaN(), SlowStart: -1, Outcomes: 65,
	}.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	keys := []string{
		"consecutive_failures", "run_window", "window", "min_samples", "error_ratio", "latency_limit",
		"open_timeout", "max_open_timeout", "jitter", "probe_successes", "refused_timeout", "slow_start", "outcomes",
	}
	if len(lines) != len(keys) {
		t.Fatalf("%d problems, want %d:\n%v", len(lines), len(keys), err)
	}
	for i, key := range keys {
		if !strings.HasPrefix(lines[i], key+": want ") {
			t.Errorf("problem %q, want one of %s", lines[i], key)
		}
	}
}

func TestSettingsOutsideTheirLimitsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*breaker.Settings)
		want string
	}{
		{"maximum below the first rest", func(s *breaker.Settings) { s.MaxOpenTimeout = time.Second }, "max_open_timeout: want no less than open_timeout, which is 30s"},
		{"a rest of centuries", func(s *breaker.Settings) { s.RefusedTimeout = math.MaxInt64 }, "refused_timeout: "},
		{"negative", func(s *breaker.Settings) { s.RunWindow = -1 }, "run_window: "},
		{"a run nobody has memory for", func(s *breaker.Settings) { s.ConsecutiveFailures = math.MaxInt }, "consecutive_failures: "},
		{"infinite", func(s *breaker.Settings) { s.Jitter = math.Inf(1) }, "jitter: "},
		{"opens on success", func(s *breaker.Settings) { s.ErrorRatio = 0 }, "error_ratio: "},
		{"per cent", func(s *breaker.Settings) { s.ErrorRatio = 40 }, "error_ratio: "},
		{"more samples than there can be", func(s *breaker.Settings) { s.Outcomes = 19 }, "min_samples: want no more than the 19 outcomes"},
		{"shorter, not longer", func(s *breaker.Settings) { s.Jitter = -0.1 }, "jitter: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := breaker.DefaultSettings()
			c.edit(&s)
			if err := s.Validate(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %v, want %s...", err, c.want)
			}
		})
	}
}

func TestForgottenSettingsDoNotMakeABreakerThatNeverOpensOrCloses(t *testing.T) {
	for _, s := range []breaker.Settings{
		{},
		{ConsecutiveFailures: -1, OpenTimeout: math.MinInt64, MaxOpenTimeout: math.MaxInt64, Jitter: math.Inf(-1), ProbeSuccesses: math.MaxInt},
	} {
		k := newProven(t, s)
		for range 5 {
			k.attempt(breaker.Failure)
		}
		k.wantRest(30 * time.Second)
		k.wait(30 * time.Second)
		k.attempt(breaker.Success)
		k.attempt(breaker.Success)
		k.wantState(breaker.Closed)
	}
}

func TestRestIsNotCutByAMaximumBelowIt(t *testing.T) {
	s := plain()
	s.OpenTimeout = time.Hour
	opened(t, s).wantRest(time.Hour)
}

func TestWindowThatCannotHoldEnoughIsStillJudged(t *testing.T) {
	s := plain().Segment()
	s.Outcomes, s.MinSamples = 5, 1000
	k := newRig(t, s)
	for range 5 {
		k.attempt(breaker.Failure)
	}
	k.wantState(breaker.Open)
}
