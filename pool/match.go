package pool

import (
	"slices"

	"swivel/pool/route"
)

// Matches says whether the proxy fits what a client asks for. A placeholder for
// a key in its credentials matches any value of that key; else a line that says
// nothing of a key fits no value of it. Proxy is compared with the proxy's
// label: whoever knows its public id has to compare that.
func (s *Spec) Matches(c route.Constraints) bool {
	if c == (route.Constraints{}) {
		return true
	}
	holed := func(hole placeholder) bool { return s.holesOf().has[hole] }
	return (fits(c.Country, s.Country) || holed(countryHole)) &&
		(fits(c.Region, s.Region) || holed(regionHole)) &&
		(fits(c.City, s.City) || holed(cityHole)) &&
		fits(c.Provider, s.Provider) &&
		fits(c.Protocol, s.Scheme.canonical().String()) &&
		(c.Proxy == "" || fits(c.Proxy, s.Label())) &&
		(c.Tag == "" || slices.ContainsFunc(s.Tags, func(tag string) bool { return fits(c.Tag, tag) }))
}

// misses are the routing keys that the proxy does not meet.
func (m *Proxy) misses(c route.Constraints) (keys []string) {
	for key, one := range c.Each() {
		if !m.fits(one) {
			keys = append(keys, key)
		}
	}
	return keys
}

// lacking are the routing keys that no member of a weight above zero meets; all
// of them, if it is only together that nobody meets them.
func (s *snapshot) lacking(c route.Constraints) (keys []string) {
	var all []string
	for key, one := range c.Each() {
		all = append(all, key)
		if !slices.ContainsFunc(s.candidates(one), func(place int32) bool {
			m := s.proxies[place]
			return m.Spec.Weight > 0 && m.fits(one)
		}) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return all
	}
	return keys
}

// fits says whether a value of the list is the one asked for.
func fits(asked, listed string) bool { return asked == "" || asked == route.Fold(listed) }
