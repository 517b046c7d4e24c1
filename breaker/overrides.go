package breaker

import (
	"strconv"
	"time"
	"unique"
)

// Overrides are the settings that one proxy has of its own, from its line in a
// list. The zero value changes nothing. Overrides can be compared with ==. Most
// proxies have none, and many the same: one takes no more memory than a pointer.
type Overrides struct {
	of unique.Handle[overrides]
}

type overrides struct {
	values Settings
	named  uint16 // a bit for each of keyed; 0 may be a value, so values cannot tell
}

func (o Overrides) value() overrides {
	if o == (Overrides{}) {
		return overrides{}
	}
	return o.of.Value()
}

// Set takes one key=value of a list line; known tells whether the key is one of
// a breaker, named as in Settings. Durations are written as Go does (30s, 1h30m)
// or as a plain number of seconds. A key that is set twice has its last value.
//
// An error begins with the key, says what is expected, does not repeat the
// value, and leaves the overrides as they were.
func (o *Overrides) Set(key, value string) (known bool, err error) {
	for i, k := range keyed {
		if k.key != key {
			continue
		}
		next := o.value()
		next.named |= 1 << i
		parse(k.field(&next.values), value)
		if err = k.check(&next.values); err == nil {
			o.of = unique.Make(next)
		}
		return true, err
	}
	return false, nil
}

// Keys returns the keys that Set knows, in the order of Settings.
func Keys() (keys []string) {
	for _, k := range keyed {
		keys = append(keys, k.key)
	}
	return keys
}

// With returns s with what o names replaced. Each value may be fine and the
// whole not (an open_timeout above the maximum): Validate the result.
func (s Settings) With(o Overrides) Settings {
	given := o.value()
	if given.named == 0 {
		return s
	}
	with := s // on the heap, which most proxies need not pay for
	for i, k := range keyed {
		if given.named&(1<<i) != 0 {
			k.take(&with, &given.values)
		}
	}
	return with
}

// parse leaves it to the check to say what is expected: what cannot be parsed
// becomes a value that no check accepts.
func parse(field any, value string) {
	switch v := field.(type) {
	case *int:
		*v = parseCount(value)
	case *float64:
		*v = parseShare(value)
	case *time.Duration:
		*v = parseDuration(value)
	}
}

func parseCount(value string) int {
	n, err := strconv.Atoi(value)
	if err != nil {
		return -1
	}
	return n
}

func parseShare(value string) float64 {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return -1
	}
	return f
}

func parseDuration(value string) time.Duration {
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return inSeconds(seconds)
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		return -1
	}
	return d
}

// inSeconds returns a negative duration for a number that is none: converting
// NaN or a number too large would yield anything. A number too small for the
// clock is none either, and not 0, which would be off.
func inSeconds(f float64) time.Duration {
	d := time.Duration(f * float64(time.Second))
	if !(f >= 0 && f <= maxDuration.Seconds()) || d == 0 && f > 0 {
		return -1
	}
	return d
}

// Pairs returns what Set was given, as key=value, in the order of Settings.
func (o Overrides) Pairs() (pairs []string) {
	given := o.value()
	for i, k := range keyed {
		if given.named&(1<<i) == 0 {
			continue
		}
		switch v := k.field(&given.values).(type) {
		case *int:
			pairs = append(pairs, k.key+"="+strconv.Itoa(*v))
		case *float64:
			pairs = append(pairs, k.key+"="+strconv.FormatFloat(*v, 'g', -1, 64))
		case *time.Duration:
			pairs = append(pairs, k.key+"="+v.String())
		}
	}
	return pairs
}
