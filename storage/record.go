package storage

import (
	"errors"
	"fmt"
	"time"
)

// The states a record may be in, as they are written.
const (
	StateClosed   = "closed"
	StateOpen     = "open"
	StateHalfOpen = "half_open"
)

// maxName bounds ids and causes: they are names, not texts.
const maxName = 64

// latest is the first instant that is no time any more. Its point is to catch
// milliseconds that were stored as seconds: those lie tens of thousands of
// years ahead.
var latest = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)

// Record is the storable state of one breaker. Times are wall-clock times and
// survive storage to the microsecond; the zero Time means "none". The zero
// Record is not valid: it has no id and no state.
type Record struct {
	ProxyID    string      // opaque id; the key
	State      string      // StateClosed, StateOpen or StateHalfOpen
	Failures   []time.Time // failures of the run, oldest first; not to be changed once handed over
	NextTest   time.Time   // when an open breaker may be probed
	LastChange time.Time   // when State last changed
	Generation uint32      // of the permits, so that results from before a restart are stale
	OpensInRow int         // how often it opened without closing between: the back-off level
	Cause      string      // name of the rule behind the last change; empty if there was none
	Suspicions int         // undecided failures in a row
	ProbeWins  int         // successful probes in a row

	Window    []Tally // outcomes in the window, oldest first, at most 64; not to be changed once handed over
	Recent    string  // the last outcomes, oldest first, + for a success and - for a failure, at most 64
	Succeeded bool    // it has succeeded, ever
	Misses    int     // failures before the first success, as far as they are counted, at most 100

	Threshold int           // failures that open it, as configured when written
	RunWindow time.Duration // how far back those failures count, as configured when written
	Timeout   time.Duration // the rest after opening, as configured when written

	CreatedAt time.Time // set by the store: first saved
	UpdatedAt time.Time // set by the store: last saved
}

// Validate says why a record cannot be stored, or nil. Beside nonsense it
// refuses an id or cause with characters that addresses, URLs and credentials
// have and names do not: a mistake elsewhere must not put a password on disk.
func (r *Record) Validate() error {
	if !isID(r.ProxyID) {
		return errors.New("record: proxy " + notAnID)
	}
	switch r.State {
	case StateClosed, StateOpen, StateHalfOpen:
	default:
		return fmt.Errorf("record %s: unknown state", r.ProxyID)
	}
	if !isName(r.Cause) {
		return fmt.Errorf("record %s: cause is not a name of up to 64 letters, digits, - and _", r.ProxyID)
	}
	if min(r.OpensInRow, r.Suspicions, r.ProbeWins, r.Threshold) < 0 || min(r.RunWindow, r.Timeout) < 0 {
		return fmt.Errorf("record %s: negative count or duration", r.ProxyID)
	}
	if err := r.validateHistory(); err != nil {
		return fmt.Errorf("record %s: %w", r.ProxyID, err)
	}
	return r.validateTimes()
}

func (r *Record) validateTimes() error {
	for _, at := range [...]time.Time{r.NextTest, r.LastChange, r.CreatedAt, r.UpdatedAt} {
		if !isTime(at) {
			return fmt.Errorf("record %s: time out of range", r.ProxyID)
		}
	}
	for _, at := range r.Failures {
		if at.IsZero() || !isTime(at) {
			return fmt.Errorf("record %s: failure time out of range", r.ProxyID)
		}
	}
	return nil
}

func isTime(at time.Time) bool {
	return at.IsZero() || at.Unix() >= 0 && at.Before(latest)
}

// notAnID does not quote the id: what is wrong with it may be that it is a
// secret.
const notAnID = "id is not a name of up to 64 letters, digits, - and _"

func isID(s string) bool { return s != "" && isName(s) }

func isName(s string) bool {
	if len(s) > maxName {
		return false
	}
	for _, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && !('0' <= c && c <= '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
