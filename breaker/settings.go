package breaker

import "time"

// Settings are the limits of one breaker. The configuration file and the proxy
// lists name them as the comments do. The zero value does not pass Validate;
// begin with DefaultSettings.
type Settings struct {
	ConsecutiveFailures int           // consecutive_failures: this many without a success between open, more on a busy proxy that often fails, at most three on one that never succeeded; 1 to 1000, 0 is off
	RunWindow           time.Duration // run_window: a failure older than this is no part of a run
	Window              time.Duration // window: an outcome older than this is no part of a rate
	MinSamples          int           // min_samples: fewer outcomes are no rate; 1 to 1000
	ErrorRatio          float64       // error_ratio: this share of failures in the window opens; more than 0, to 1
	LatencyLimit        time.Duration // latency_limit: slower than this is slow; 0 is off
	OpenTimeout         time.Duration // open_timeout: the first rest; doubles with every open in a row
	MaxOpenTimeout      time.Duration // max_open_timeout: the longest rest, before jitter
	Jitter              float64       // jitter: a rest is longer by up to this share of it; 0 to 1, 0 is none
	ProbeSuccesses      int           // probe_successes: this many probes in a row close; 1 to 1000
	RefusedTimeout      time.Duration // refused_timeout: the rest after a refusal, however many there were
	SlowStart           time.Duration // slow_start: so long after closing the factor is back at its full size; 0 is off

	// Outcomes, if it is not 0, makes the window one of the last so many
	// outcomes, however old, in place of those of the last Window. 0 to 64. It
	// is part of what a breaker is for and not of how it is tuned: it has no key.
	Outcomes int
}

// DefaultSettings returns the settings that apply where nothing else is said.
func DefaultSettings() Settings {
	return Settings{
		ConsecutiveFailures: 5,
		RunWindow:           time.Hour, // long, so that rarely used proxies of a large pool are judged too
		Window:              time.Minute,
		MinSamples:          20,
		ErrorRatio:          0.4,
		OpenTimeout:         30 * time.Second,
		MaxOpenTimeout:      15 * time.Minute,
		Jitter:              0.1,
		ProbeSuccesses:      2,
		RefusedTimeout:      15 * time.Minute,
		SlowStart:           30 * time.Second,
	}
}

// Rotating returns s for a proxy that leaves from another address with every
// connection. A run of bad exits says nothing about the next one, only a high
// rate of them does.
func (s Settings) Rotating() Settings {
	s.ConsecutiveFailures, s.MinSamples, s.ErrorRatio = 0, 50, 0.8
	return s
}

// Segment returns s for all proxies of one provider, region and protocol
// together. How many of them are in use at a time varies widely, therefore the
// window is one of outcomes and not of time.
func (s Settings) Segment() Settings {
	s.ConsecutiveFailures, s.MinSamples, s.ErrorRatio = 0, 10, 0.3
	s.Outcomes, s.ProbeSuccesses = 30, 3
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
