package pool

import (
	"strconv"
	"strings"
)

// Line returns the proxy as a line of a list, with its credentials: it is what
// ParseLine reads. Variables of the environment are filled in already.
func (s *Spec) Line() string {
	words := []string{s.Identity()}
	add := func(key, value string) {
		if value != "" {
			words = append(words, key+"="+quoted(value))
		}
	}
	if s.Weight != 1 {
		add("weight", decimal(s.Weight))
	}
	add("name", s.Name)
	add("provider", s.Provider)
	add("region", s.Region)
	add("country", s.Country)
	add("city", s.City)
	for _, tag := range s.Tags {
		add("tag", tag)
	}
	if s.MaxInFlight > 0 {
		add("max_in_flight", strconv.Itoa(s.MaxInFlight))
	}
	if s.Rate > 0 {
		add("rate", decimal(s.Rate))
	}
	add("sni", s.SNI)
	add("ca", s.CA)
	if s.Insecure {
		add("insecure", "true")
	}
	if s.RotatingSet {
		add("rotating", strconv.FormatBool(s.Rotating))
	}
	return strings.Join(append(words, s.Breaker.Pairs()...), " ")
}

func decimal(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// quoted is a value as a line takes it. There is no way to write a quote inside
// quotes: such a one, which can only come from other forms of lists, becomes an
// apostrophe.
func quoted(value string) string {
	if value[0] != '"' && !strings.ContainsAny(value, " \t") && isASCII(value) {
		return value
	}
	return `"` + strings.ReplaceAll(value, `"`, "'") + `"`
}
