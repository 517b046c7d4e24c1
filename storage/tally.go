package storage

import (
	"errors"
	"math"
	"strings"
	"time"
)

// The most of a breaker's history that a record holds. They are above what any
// breaker writes, and keep a mistake elsewhere from filling the disk.
const (
	maxTallies = 64
	maxRecent  = 64
	maxMisses  = 100
)

// Tally is how many outcomes there were in a part of a breaker's window.
type Tally struct {
	At                  time.Time // when the part began
	Successes, Failures int
}

func (t Tally) validate() error {
	switch {
	case t.At.IsZero() || !isTime(t.At):
		return errors.New("time of a tally out of range")
	case !isCount(t.Successes) || !isCount(t.Failures):
		return errors.New("count of a tally out of range")
	}
	return nil
}

// isCount bounds counts by what every store can give back.
func isCount(n int) bool { return n >= 0 && uint64(n) <= math.MaxUint32 }

// validateHistory checks what a record says of the outcomes.
func (r *Record) validateHistory() error {
	switch {
	case len(r.Window) > maxTallies:
		return errors.New("too many tallies")
	case len(r.Recent) > maxRecent || strings.Trim(r.Recent, "+-") != "":
		return errors.New("recent outcomes are not up to 64 signs + and -")
	case r.Misses < 0 || r.Misses > maxMisses:
		return errors.New("misses out of range")
	}
	for _, t := range r.Window {
		if err := t.validate(); err != nil {
			return err
		}
	}
	return nil
}
