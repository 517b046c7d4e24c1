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

// fits says whether a value of the list is the one asked for.
func fits(asked, listed string) bool { return asked == "" || asked == route.Fold(listed) }
