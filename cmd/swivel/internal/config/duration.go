package config

import (
	"errors"
	"strconv"
	"time"
)

// Duration is a time.Duration that reads "1m30s", or a plain number as
// seconds: nanoseconds, Go's own reading of a number, are never meant.
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler, for the file, the environment
// and flags.
func (d *Duration) UnmarshalText(text []byte) error {
	s := string(text)
	if n, err := strconv.ParseFloat(s, 64); err == nil && n >= 0 && n < 1e9 {
		*d = Duration(n * float64(time.Second))
		return nil
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return errors.New("want a duration such as 30s or 5m")
	}
	*d = Duration(v)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d Duration) String() string { return time.Duration(d).String() }
