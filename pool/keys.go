package pool

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"swivel/breaker"
	"swivel/pool/spelling"
)

// maxWeight bounds weights so that a pool's sum stays finite and exact enough
// to share traffic by.
const maxWeight = 1e9

// The faults of values.
var (
	errText   = errors.New("not UTF-8 text without control characters")
	errBlank  = errors.New("no value")
	errWeight = errors.New("not a number from 0 to 1e9")
	errRate   = errors.New("not a number of exchanges a second, 0 or more")
	errCount  = errors.New("not a whole number, 0 or more")
	errBool   = errors.New("neither true nor false, 1 nor 0")
)

// setters are the keys of a line, except for the breaker's own.
var setters = map[string]func(s *Spec, value string) error{
	"weight":        func(s *Spec, v string) error { return setNumber(&s.Weight, v, maxWeight, errWeight) },
	"rate":          func(s *Spec, v string) error { return setNumber(&s.Rate, v, math.MaxFloat64, errRate) },
	"max_in_flight": func(s *Spec, v string) error { return setCount(&s.MaxInFlight, v) },
	"name":          func(s *Spec, v string) error { return setText(&s.Name, v) },
	"provider":      func(s *Spec, v string) error { return setText(&s.Provider, v) },
	"region":        func(s *Spec, v string) error { return setText(&s.Region, v) },
	"country":       func(s *Spec, v string) error { return setText(&s.Country, v) },
	"city":          func(s *Spec, v string) error { return setText(&s.City, v) },
	"tag":           addTag,
	"sni":           setSNI,
	"ca":            func(s *Spec, v string) error { return setText(&s.CA, v) },
	"insecure":      func(s *Spec, v string) error { return setBool(&s.Insecure, v) },
	"rotating": func(s *Spec, v string) error {
		s.RotatingSet = true
		return setBool(&s.Rotating, v)
	},
}

// setKey puts one key=value of a line into s. What it knows nothing about is
// an error: an option that is silently not in force is worse than a line less.
func setKey(s *Spec, key, value string) error {
	if set, ok := setters[key]; ok {
		if err := set(s, value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	}
	known, err := s.Breaker.Set(key, value)
	if !known {
		return unknownKey(key)
	}
	return err
}

// isAttribute reports whether word is a key=value whose key is known, or a flag.
func isAttribute(word string) bool {
	key, _, found := strings.Cut(word, "=")
	if !found {
		return isFlag(word)
	}
	if _, ok := setters[key]; ok {
		return true
	}
	known, _ := new(breaker.Overrides).Set(key, "")
	return known
}

// isFlag reports whether word is a key that means something alone.
func isFlag(word string) bool { return word == "rotating" || word == "insecure" }

// knownKeys are all keys of a line.
var knownKeys = append(slices.Sorted(maps.Keys(setters)), breaker.Keys()...)

// errUnknownKey is one error for all, since every line of a list may have it.
var errUnknownKey = errors.New("unknown key; the README has all that there are, and proxies.example.txt shows most of them")

// unknownKey names a key only if it is a slip of a known one: else it may be
// anything, even the end of a password that held a blank.
func unknownKey(key string) error {
	if near := spelling.Near(key, knownKeys); near != "" {
		return fmt.Errorf("unknown key %q; is %s meant?", key, near)
	}
	return errUnknownKey
}

// nameKey returns the name of a field for a message, unless it does not look like
// one: then it may be anything.
func nameKey(key string) string {
	if len(key) > 32 || strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-. ") != "" {
		return "that is no word"
	}
	return strconv.Quote(key)
}

// setNumber refuses negative numbers, NaN, infinities and what is over limit.
func setNumber(to *float64, value string, limit float64, fault error) error {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || !(n >= 0 && n <= limit) {
		return fault
	}
	*to = math.Abs(n) // -0 is 0
	return nil
}

func setCount(to *int, value string) error {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return errCount
	}
	*to = int(n)
	return nil
}

// setBool takes the spellings of strconv.ParseBool, in any case.
func setBool(to *bool, value string) error {
	b, err := strconv.ParseBool(strings.ToLower(value))
	if err != nil {
		return errBool
	}
	*to = b
	return nil
}

func setText(to *string, value string) error {
	if strings.TrimSpace(value) == "" {
		return errBlank
	}
	if !utf8.ValidString(value) || strings.IndexFunc(value, unicode.IsControl) >= 0 {
		return errText
	}
	*to = value
	return nil
}

func addTag(s *Spec, value string) error {
	var tag string
	if err := setText(&tag, value); err != nil {
		return err
	}
	s.Tags = append(s.Tags, tag)
	return nil
}

func setSNI(s *Spec, value string) (err error) {
	s.SNI, err = parseHost(value)
	return err
}
