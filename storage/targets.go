package storage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// MaxTargets is how many bans, and how many rests of targets, a store keeps.
// What is beyond matters little: these are memories of minutes.
const MaxTargets = 10_000

// maxTarget is the longest DNS name with its final dot, a colon and a port.
const maxTarget = 260

// Ban keeps a proxy away from a target that refuses it.
type Ban struct {
	ProxyID, Target string // the key
	Until           time.Time
}

// TargetRest is the time that a target which is down is left alone.
type TargetRest struct {
	Target string // the key
	Until  time.Time
	Rest   time.Duration // how long it is in all: the next one is longer
}

// Validate says why a ban cannot be stored, or nil.
func (b Ban) Validate() error {
	if !isID(b.ProxyID) {
		return errors.New("ban: proxy " + notAnID)
	}
	if err := validateResting(b.Target, b.Until); err != nil {
		return fmt.Errorf("ban of %s: %w", b.ProxyID, err)
	}
	return nil
}

// Validate says why a rest cannot be stored, or nil.
func (r TargetRest) Validate() error {
	if err := validateResting(r.Target, r.Until); err != nil {
		return fmt.Errorf("rest of a target: %w", err)
	}
	if r.Rest < 0 {
		return errors.New("rest of a target: negative duration")
	}
	return nil
}

func validateResting(target string, until time.Time) error {
	if !isTarget(target) {
		return errors.New("target is not a host and port")
	}
	if until.IsZero() || !isTime(until) {
		return errors.New("time out of range")
	}
	return nil
}

// isTarget refuses what has a path or a user: a URL may hold a secret.
func isTarget(s string) bool {
	strange := func(c rune) bool { return !unicode.IsGraphic(c) || unicode.IsSpace(c) || c == '@' || c == '/' }
	return s != "" && len(s) <= maxTarget && utf8.ValidString(s) && !strings.ContainsFunc(s, strange)
}

// Lasting returns what a store keeps of the bans and rests given to
// [Store.SaveTargets]: the valid ones, of several with one key the longest, and
// at most MaxTargets of each, which are those that end last. It begins with
// them, and leaves the arguments alone.
func Lasting(bans []Ban, rests []TargetRest) ([]Ban, []TargetRest) {
	return lasting(bans), lasting(rests)
}

type resting interface {
	Validate() error
	key() [2]string
	end() time.Time
}

func (b Ban) key() [2]string        { return [2]string{b.Target, b.ProxyID} }
func (b Ban) end() time.Time        { return b.Until }
func (r TargetRest) key() [2]string { return [2]string{r.Target} }
func (r TargetRest) end() time.Time { return r.Until }

func lasting[T resting](all []T) []T {
	kept := slices.DeleteFunc(slices.Clone(all), func(t T) bool { return t.Validate() != nil })
	slices.SortStableFunc(kept, func(a, b T) int { return b.end().Compare(a.end()) })
	seen := make(map[[2]string]bool, len(kept))
	kept = slices.DeleteFunc(kept, func(t T) bool {
		again := seen[t.key()]
		seen[t.key()] = true
		return again
	})
	return kept[:min(len(kept), MaxTargets)]
}
