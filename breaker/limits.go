package breaker

import (
	"errors"
	"fmt"
	"time"
)

// The limits of settings. They keep a run's memory and the sum of a rest and
// its jitter within bounds that nobody has a reason to leave.
const (
	maxCount    = 1000
	maxDuration = 365 * 24 * time.Hour
	maxOutcomes = 64 // as many as a history holds
)

// setting is one field of Settings: its key, where it is (an *int, *float64 or
// *time.Duration), and whether 0 is one of its values.
type setting struct {
	key   string
	field func(*Settings) any
	zero  bool
}

// keyed are the settings that have a key, in the order of their problems.
var keyed = []setting{
	{"consecutive_failures", func(s *Settings) any { return &s.ConsecutiveFailures }, true},
	{"run_window", func(s *Settings) any { return &s.RunWindow }, false},
	{"window", func(s *Settings) any { return &s.Window }, false},
	{"min_samples", func(s *Settings) any { return &s.MinSamples }, false},
	{"error_ratio", func(s *Settings) any { return &s.ErrorRatio }, false},
	{"latency_limit", func(s *Settings) any { return &s.LatencyLimit }, true},
	{"open_timeout", func(s *Settings) any { return &s.OpenTimeout }, false},
	{"max_open_timeout", func(s *Settings) any { return &s.MaxOpenTimeout }, false},
	{"jitter", func(s *Settings) any { return &s.Jitter }, true},
	{"probe_successes", func(s *Settings) any { return &s.ProbeSuccesses }, false},
	{"refused_timeout", func(s *Settings) any { return &s.RefusedTimeout }, false},
	{"slow_start", func(s *Settings) any { return &s.SlowStart }, true},
}

// Validate returns all problems of s, joined, each beginning with the key of
// the setting; nil if there are none.
func (s Settings) Validate() error {
	var problems []error
	for _, k := range keyed {
		problems = append(problems, k.check(&s))
	}
	return errors.Join(append(problems, s.checkOrder(), s.checkOutcomes())...)
}

// checkOrder keeps quiet about a maximum that is wrong by itself.
func (s Settings) checkOrder() error {
	if s.MaxOpenTimeout > 0 && s.MaxOpenTimeout < s.OpenTimeout {
		return fmt.Errorf("max_open_timeout: want no less than open_timeout, which is %v", s.OpenTimeout)
	}
	return nil
}

// checkOutcomes finds windows that never hold enough to be judged.
func (s Settings) checkOutcomes() error {
	switch {
	case s.Outcomes < 0 || s.Outcomes > maxOutcomes:
		return fmt.Errorf("outcomes: want a whole number from 0 to %d", maxOutcomes)
	case s.Outcomes > 0 && s.MinSamples > s.Outcomes:
		return fmt.Errorf("min_samples: want no more than the %d outcomes of the window", s.Outcomes)
	}
	return nil
}

// check says what is expected of the setting, if that is not what s has.
func (k setting) check(s *Settings) error {
	switch v := k.field(s).(type) {
	case *int:
		if *v < 0 || *v > maxCount || *v == 0 && !k.zero {
			return fmt.Errorf("%s: want a whole number from %s to %d", k.key, k.least("0, which is off,", "1"), maxCount)
		}
	case *float64:
		if !(*v >= 0 && *v <= 1) || *v == 0 && !k.zero { // NaN too
			return fmt.Errorf("%s: want a number from 0 to 1%s, such as 0.1", k.key, k.least("", " but not 0"))
		}
	case *time.Duration:
		if *v < 0 || *v > maxDuration || *v == 0 && !k.zero {
			return fmt.Errorf("%s: want a duration such as 30s, %s and at most %.0fh",
				k.key, k.least("0 for off", "more than 0"), maxDuration.Hours())
		}
	}
	return nil
}

// least is how the lower end of the setting is described.
func (k setting) least(withZero, without string) string {
	if k.zero {
		return withZero
	}
	return without
}

// take gives the setting of s the value that it has in from.
func (k setting) take(s, from *Settings) {
	switch v := k.field(s).(type) {
	case *int:
		*v = *k.field(from).(*int)
	case *float64:
		*v = *k.field(from).(*float64)
	case *time.Duration:
		*v = *k.field(from).(*time.Duration)
	}
}

// repaired returns s with defaults in place of what Validate objects to.
func (s Settings) repaired() Settings {
	d := DefaultSettings()
	if s == (Settings{}) {
		return d
	}
	for _, k := range keyed {
		if k.check(&s) != nil {
			k.take(&s, &d)
		}
	}
	s.MaxOpenTimeout = max(s.MaxOpenTimeout, s.OpenTimeout)
	s.Outcomes = between(0, s.Outcomes, maxOutcomes)
	if s.Outcomes > 0 {
		s.MinSamples = min(s.MinSamples, s.Outcomes)
	}
	return s
}
