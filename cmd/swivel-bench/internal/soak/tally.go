package soak

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// The kinds of exchanges, as swivel's log and metrics call them.
const (
	kindConnect = "connect"
	kindPlain   = "plain"
	kindSOCKS   = "socks5"
)

// Refused is an answer of swivel's own that is no success.
type Refused struct {
	Status int
	Code   string // X-Swivel-Error, or the SOCKS5 reply; empty: the answer does not say
}

func (r *Refused) Error() string { return fmt.Sprintf("refused: %d %s", r.Status, r.Code) }

// expected are the refusals that a pool which fails now and then may bring.
var expected = []string{"attempts_spent", "no_proxy", "target_down", "timeout"}

// Tally counts exchanges as their clients saw them. The zero value is empty; it
// is safe for concurrent use.
type Tally struct {
	mu          sync.Mutex
	opened      map[string]int64 // by kind
	good        int64
	refused     map[string]int64 // by code
	harmed      map[string]int64 // that failed in a way that an upstream has noted
	left        int64            // whose client left, as it was meant to
	skipped     int64            // were due while too many were under way
	unexplained int64
	first       []error // some of the unexplained
}

// keep is how many of the unexplained errors are shown.
const keep = 10

func (t *Tally) init() {
	if t.opened == nil {
		t.opened, t.refused, t.harmed = map[string]int64{}, map[string]int64{}, map[string]int64{}
	}
}

// open counts an exchange whose request is about to be sent.
func (t *Tally) open(kind string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.init()
	t.opened[kind]++
}

// close counts how an exchange ended; harm is what an upstream did to it.
func (t *Tally) close(kind string, err error, harm string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.init()
	var refused *Refused
	switch {
	case err == nil:
		t.good++
	case errors.Is(err, errLeft):
		t.left++
	case errors.As(err, &refused) && slices.Contains(expected, refused.Code):
		t.refused[refused.Code]++
	case harm != "" && refused == nil:
		t.harmed[harm]++
	default:
		t.unexplained++
		if len(t.first) < keep {
			t.first = append(t.first, fmt.Errorf("%s: %w", kind, err))
		}
	}
}

func (t *Tally) skip() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.skipped++
}

// Totals are the sums of a tally.
type Totals struct{ Opened, Good, Refused, Harmed, Left, Skipped, Unexplained int64 }

// Closed is how many exchanges are over.
func (s Totals) Closed() int64 { return s.Good + s.Refused + s.Harmed + s.Left + s.Unexplained }

// Totals returns the sums as they are now.
func (t *Tally) Totals() Totals {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := func(all map[string]int64) (n int64) {
		for _, one := range all {
			n += one
		}
		return n
	}
	return Totals{sum(t.opened), t.good, sum(t.refused), sum(t.harmed), t.left, t.skipped, t.unexplained}
}

// Opened returns the exchanges by kind.
func (t *Tally) Opened() map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.opened)
}

// Unexplained returns the first of the errors that nothing accounts for.
func (t *Tally) Unexplained() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return errors.Join(t.first...)
}

// String says what the errors were, in one line.
func (t *Tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var parts []string
	for _, of := range []struct {
		what string
		by   map[string]int64
	}{{"refused", t.refused}, {"harmed", t.harmed}} {
		for _, word := range slices.Sorted(maps.Keys(of.by)) {
			parts = append(parts, fmt.Sprintf("%s %s %d", of.what, word, of.by[word]))
		}
	}
	return strings.Join(parts, ", ")
}
