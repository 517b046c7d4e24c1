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
)

// Settings are the limits of one breaker. The configuration file and the proxy
// lists name them as the comments do. The zero value does not pass Validate;
// begin with DefaultSettings.
type Settings struct {
	ConsecutiveFailures int           // consecutive_failures: this many without a success between open; 1 to 1000
	RunWindow           time.Duration // run_window: a failure older than this no longer counts
	OpenTimeout         time.Duration // open_timeout: the first rest; doubles with every open in a row
	MaxOpenTimeout      time.Duration // max_open_timeout: the longest rest, before jitter
	Jitter              float64       // jitter: a rest is longer by up to this share of it; 0 to 1, 0 is none
	ProbeSuccesses      int           // probe_successes: this many probes in a row close; 1 to 1000
	RefusedTimeout      time.Duration // refused_timeout: the rest after a refusal, however many there were
}

// DefaultSettings returns the settings that apply where nothing else is said.
func DefaultSettings() Settings {
	return Settings{
		ConsecutiveFailures: 5,
		RunWindow:           time.Hour, // long, so that rarely used proxies of a large pool are judged too
		OpenTimeout:         30 * time.Second,
		MaxOpenTimeout:      15 * time.Minute,
		Jitter:              0.1,
		ProbeSuccesses:      2,
		RefusedTimeout:      15 * time.Minute,
	}
}

// Validate returns all problems of s, joined, each beginning with the key of
// the setting; nil if there are none.
func (s Settings) Validate() error {
	return errors.Join(
		checkCount("consecutive_failures", s.ConsecutiveFailures),
		checkDuration("run_window", s.RunWindow),
		checkDuration("open_timeout", s.OpenTimeout),
		checkDuration("max_open_timeout", s.MaxOpenTimeout),
		s.checkOrder(),
		checkShare("jitter", s.Jitter),
		checkCount("probe_successes", s.ProbeSuccesses),
		checkDuration("refused_timeout", s.RefusedTimeout),
	)
}

// checkOrder keeps quiet about a maximum that is wrong by itself.
func (s Settings) checkOrder() error {
	if s.MaxOpenTimeout > 0 && s.MaxOpenTimeout < s.OpenTimeout {
		return fmt.Errorf("max_open_timeout: want no less than open_timeout, which is %v", s.OpenTimeout)
	}
	return nil
}

func checkCount(key string, n int) error {
	if n < 1 || n > maxCount {
		return fmt.Errorf("%s: want a whole number from 1 to %d", key, maxCount)
	}
	return nil
}

func checkDuration(key string, d time.Duration) error {
	if d <= 0 || d > maxDuration {
		return fmt.Errorf("%s: want a duration such as 30s, more than 0 and at most %.0fh", key, maxDuration.Hours())
	}
	return nil
}

func checkShare(key string, f float64) error {
	if !(f >= 0 && f <= 1) { // NaN too
		return fmt.Errorf("%s: want a number from 0 to 1, such as 0.1", key)
	}
	return nil
}

// repaired returns s with defaults in place of what Validate objects to.
func (s Settings) repaired() Settings {
	d := DefaultSettings()
	if checkCount("", s.ConsecutiveFailures) != nil {
		s.ConsecutiveFailures = d.ConsecutiveFailures
	}
	if checkCount("", s.ProbeSuccesses) != nil {
		s.ProbeSuccesses = d.ProbeSuccesses
	}
	if checkShare("", s.Jitter) != nil {
		s.Jitter = d.Jitter
	}
	for _, f := range []struct {
		have *time.Duration
		want time.Duration
	}{
		{&s.RunWindow, d.RunWindow},
		{&s.OpenTimeout, d.OpenTimeout},
		{&s.MaxOpenTimeout, d.MaxOpenTimeout},
		{&s.RefusedTimeout, d.RefusedTimeout},
	} {
		if checkDuration("", *f.have) != nil {
			*f.have = f.want
		}
	}
	s.MaxOpenTimeout = max(s.MaxOpenTimeout, s.OpenTimeout)
	return s
}

// rest returns how long the n-th open in a row lasts, before jitter. n below 1
// counts as 1.
func (s Settings) rest(n int) time.Duration {
	rest := s.OpenTimeout
	// Ends at the maximum, however large n is; doubling cannot overflow below it.
	for ; n > 1 && rest < s.MaxOpenTimeout; n-- {
		rest *= 2
	}
	return min(rest, s.MaxOpenTimeout)
}
