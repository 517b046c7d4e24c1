// Package route reads what a client asks of the pool: which proxies will do for
// a request, and whether requests belong together.
//
// The one channel that every HTTP client has for this is the user name it
// gives its proxy, so that is where the keys stand, behind the client's own
// name and in the spellings that vendors of proxies have made common:
//
//	scraper-country-us-session-a1b2
//	scraper+country=us+session=a1b2
//	scraper;country=us;session=a1b2
//	groups-fast,session-a1b2,country-us
//
// Names hold - too, and so do the ids of sessions; what tells them from keys is
// that the keys are known. Two header fields do the same for clients that can
// send them.
//
// Everything here is a pure function of its arguments and safe for concurrent
// use.
//
//	name, r, err := route.Parse("scraper-country-us", nil)
//	// name is "scraper", r.Country is "us"
package route

import (
	"iter"
	"strings"
	"time"
)

// Route is what a client asks of the pool for one exchange. The zero value asks
// for nothing. Texts but Session are in the form of Fold.
type Route struct {
	Country  string // "" here and below: any
	Region   string
	City     string
	Provider string
	Tag      string // one of the proxy's tags
	Protocol string // http, https, socks4 or socks5: with or without a or h is the same
	Proxy    string // its name or its public id

	// Session is the id under which the client wants to keep its proxy, "" if
	// it does not care. 1 to 128 visible ASCII characters, but none of + ; ,
	// and its case matters.
	Session string
	// TTL is how long after its last use the session keeps its proxy: a second
	// to a week; 0 is the default.
	TTL time.Duration
	// Strict says to rather fail than serve the session through another proxy.
	Strict bool
}

// Constraints are the part of a Route that a proxy either meets or not. They
// compare, so that what is known of those who meet them can be kept by them.
// The zero value is met by every proxy.
type Constraints struct {
	Country, Region, City, Provider, Tag, Protocol, Proxy string
}

// Constraints returns what the route asks of a proxy.
func (r Route) Constraints() Constraints {
	return Constraints{r.Country, r.Region, r.City, r.Provider, r.Tag, r.Protocol, r.Proxy}
}

// Each yields the keys that ask for something, each with what it asks for alone.
func (c Constraints) Each() iter.Seq2[string, Constraints] {
	return func(yield func(string, Constraints) bool) {
		for _, one := range []struct {
			key   string
			alone Constraints
		}{
			{"country", Constraints{Country: c.Country}}, {"region", Constraints{Region: c.Region}},
			{"city", Constraints{City: c.City}}, {"provider", Constraints{Provider: c.Provider}},
			{"tag", Constraints{Tag: c.Tag}}, {"protocol", Constraints{Protocol: c.Protocol}},
			{"proxy", Constraints{Proxy: c.Proxy}},
		} {
			if one.alone != (Constraints{}) && !yield(one.key, one.alone) {
				return
			}
		}
	}
}

// String returns the keys as "country=us;session=a1b2". ParseHeader reads that,
// and so does Parse behind a name and a semicolon, if the route came from either.
// It is empty for the zero value.
func (r Route) String() string {
	var pairs []string
	for _, k := range keys {
		if value := k.get(&r); value != "" {
			pairs = append(pairs, k.name+"="+value)
		}
	}
	return strings.Join(pairs, ";")
}

// Fold returns the form in which texts of routes are compared: lower case, with
// _ for each blank, because vendors write cities so where a blank has no place.
func Fold(text string) string {
	return strings.ToLower(strings.ReplaceAll(text, " ", "_"))
}
