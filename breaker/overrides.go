package breaker

import (
	"cmp"
	"strconv"
	"time"
)

// Overrides are the settings that one proxy has of its own, from its line in a
// list. The zero value changes nothing. Overrides can be compared with ==.
type Overrides struct {
	values Settings // 0: not named
	jitter bool     // values.Jitter was named: there 0 means something
}

// Set takes one key=value of a list line; known tells whether the key is one of
// a breaker, named as in Settings. Durations are written as Go does (30s, 1h30m)
// or as a plain number of seconds. A key that is set twice has its last value.
//
// An error begins with the key, says what is expected, does not repeat the
// value, and leaves the overrides as they were.
func (o *Overrides) Set(key, value string) (known bool, err error) {
	next := *o
	switch key {
	case "consecutive_failures":
		next.values.ConsecutiveFailures, err = parseCount(key, value)
	case "run_window":
		next.values.RunWindow, err = parseDuration(key, value)
	case "open_timeout":
		next.values.OpenTimeout, err = parseDuration(key, value)
	case "max_open_timeout":
		next.values.MaxOpenTimeout, err = parseDuration(key, value)
	case "jitter":
		next.values.Jitter, err = parseShare(key, value)
		next.jitter = true
	case "probe_successes":
		next.values.ProbeSuccesses, err = parseCount(key, value)
	case "refused_timeout":
		next.values.RefusedTimeout, err = parseDuration(key, value)
	default:
		return false, nil
	}
	if err == nil {
		*o = next
	}
	return true, err
}

// With returns s with what o names replaced. Each value may be fine and the
// whole not (an open_timeout above the maximum): Validate the result.
func (s Settings) With(o Overrides) Settings {
	v := o.values
	s.ConsecutiveFailures = cmp.Or(v.ConsecutiveFailures, s.ConsecutiveFailures)
	s.RunWindow = cmp.Or(v.RunWindow, s.RunWindow)
	s.OpenTimeout = cmp.Or(v.OpenTimeout, s.OpenTimeout)
	s.MaxOpenTimeout = cmp.Or(v.MaxOpenTimeout, s.MaxOpenTimeout)
	if o.jitter {
		s.Jitter = v.Jitter
	}
	s.ProbeSuccesses = cmp.Or(v.ProbeSuccesses, s.ProbeSuccesses)
	s.RefusedTimeout = cmp.Or(v.RefusedTimeout, s.RefusedTimeout)
	return s
}

// The parsers leave it to the checks to say what is expected: what cannot be
// parsed becomes a value that no check accepts.

func parseCount(key, value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil {
		n = -1
	}
	return n, checkCount(key, n)
}

func parseShare(key, value string) (float64, error) {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil {
		f = -1
	}
	return f, checkShare(key, f)
}

func parseDuration(key, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if seconds, numErr := strconv.ParseFloat(value, 64); numErr == nil {
		d, err = inSeconds(seconds), nil
	}
	if err != nil {
		d = -1
	}
	return d, checkDuration(key, d)
}

// inSeconds returns a negative duration for a number that is none: converting
// NaN or a number too large would yield anything.
func inSeconds(f float64) time.Duration {
	if !(f > 0 && f <= maxDuration.Seconds()) {
		return -1
	}
	return time.Duration(f * float64(time.Second))
}
