package route

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// MaxValue is how many bytes the value of a key may have, but for a session's id.
const MaxValue = 64

// Limits of other values. A vendor's session ids are short; the week is the
// longest that any of them keeps a session.
const (
	maxSession = 128
	minTTL     = time.Second
	maxTTL     = 7 * 24 * time.Hour
)

// key is one routing key.
type key struct {
	name string // its own, as opposed to an alias
	get  func(r *Route) string
	set  func(r *Route, value string) (fault string)
}

// keys are all there are, in the order of String.
var keys = []*key{
	constraint("country", func(r *Route) *string { return &r.Country }),
	constraint("region", func(r *Route) *string { return &r.Region }),
	constraint("city", func(r *Route) *string { return &r.City }),
	constraint("provider", func(r *Route) *string { return &r.Provider }),
	constraint("tag", func(r *Route) *string { return &r.Tag }),
	{"protocol", func(r *Route) string { return r.Protocol }, setProtocol},
	constraint("proxy", func(r *Route) *string { return &r.Proxy }),
	{"session", func(r *Route) string { return r.Session }, setSession},
	{"ttl", getTTL, setTTL},
	{"strict", getStrict, setStrict},
}

// aliases are what vendors call the keys.
var aliases = map[string]string{
	"cc":    "country",
	"state": "region", "st": "region",
	"zone": "tag", "groups": "tag",
	"sessid": "session", "sess": "session", "sid": "session",
	"sessid_oneip": "session", "session_iplock": "session", "hardsession": "session",
	"lifetime": "ttl", "sesstime": "ttl", "sessionduration": "ttl",
}

// pinned are the aliases by which vendors say that the session must not move.
var pinned = map[string]bool{"sessid_oneip": true, "session_iplock": true, "hardsession": true}

// byName has the keys under all of their names.
var byName = func() map[string]*key {
	all := map[string]*key{}
	for _, k := range keys {
		all[k.name] = k
	}
	for alias, name := range aliases {
		all[alias] = all[name]
	}
	return all
}()

// lookup finds a key by any of its names, in any case; nil if there is none.
func lookup(word string) *key {
	const longest = len("sessionduration")
	if word == "" || len(word) > longest {
		return nil
	}
	return byName[strings.ToLower(word)]
}

// flag says whether the key may stand without a value.
func (k *key) flag() bool { return k.name == "strict" }

const noValue = "it has no value"

func constraint(name string, field func(r *Route) *string) *key {
	set := func(r *Route, value string) string {
		switch {
		case value == "":
			return noValue
		case len(value) > MaxValue:
			return "the value is longer than 64 bytes"
		case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) || strings.Contains(value, "="):
			return "the value is no text, or holds an ="
		}
		*field(r) = Fold(value)
		return ""
	}
	return &key{name, func(r *Route) string { return *field(r) }, set}
}

// setProtocol takes the schemes of a proxy list. Whether the proxy or its client
// resolves names is no property of a proxy here, so a and h change nothing.
func setProtocol(r *Route, value string) string {
	switch strings.ToLower(value) {
	case "":
		return noValue
	case "http":
		r.Protocol = "http"
	case "https":
		r.Protocol = "https"
	case "socks4", "socks4a":
		r.Protocol = "socks4"
	case "socks", "socks5", "socks5h":
		r.Protocol = "socks5"
	default:
		return "the value is none of http, https, socks4, socks5"
	}
	return ""
}

func setSession(r *Route, value string) string {
	switch {
	case value == "":
		return noValue
	case len(value) > maxSession:
		return "the value is longer than 128 characters"
	}
	for i := range len(value) {
		if c := value[i]; c <= ' ' || c > '~' || separates(c) && c != '-' {
			return "the value holds something else than visible ASCII characters without + ; and ,"
		}
	}
	r.Session = value
	return ""
}

func getTTL(r *Route) string {
	if r.TTL == 0 {
		return ""
	}
	return r.TTL.String()
}

// setTTL takes minutes, as vendors do, or a number with a unit.
func setTTL(r *Route, value string) string {
	if value == "" {
		return noValue
	}
	const fault = "the value is not a number of minutes, nor one with a unit as in 90s, 10m or 1h"
	text := strings.ToLower(value)
	digits := strings.TrimLeft(text, "0123456789")
	switch {
	case digits == "":
		text += "m"
	case strings.Trim(text, "0123456789hms") != "":
		return fault // what else ParseDuration knows: signs, fractions
	}
	ttl, err := time.ParseDuration(text)
	if err != nil {
		return fault
	}
	if ttl < minTTL || ttl > maxTTL {
		return "the value is not between one second and a week"
	}
	r.TTL = ttl
	return ""
}

func getStrict(r *Route) string {
	if r.Strict {
		return "true"
	}
	return ""
}

func setStrict(r *Route, value string) string {
	strict, ok := truth(value)
	if !ok {
		return "the value is neither true nor false"
	}
	r.Strict = strict
	return ""
}

// truth reads the value of a flag.
func truth(word string) (value, ok bool) {
	switch strings.ToLower(word) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}
