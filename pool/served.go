package pool

import (
	"hash/maphash"
	"iter"
	"math/rand/v2"
	"sync"
)

// servedPlaces bounds what is remembered of exchanges, to some three megabytes.
// Two whose ids fall onto one place forget each other: after a tenth as many
// more nine of ten are still known, after as many one of three.
const servedPlaces = 1 << 15

// served are exchanges that were served lately. The zero value is empty; it is
// safe for concurrent use.
type served struct {
	mu     sync.Mutex
	places []servedBy // by the exchange's id

	latest [latestServed]ID // by whom; a ring
	n      uint64           // how many were added to it
}

// latestServed is how many of them are remembered for whom they were served by.
const latestServed = 64

type servedBy struct {
	request string
	proxy   ID
	target  string
}

func servedPlace(request string) uint64 { return maphash.String(targetSeed, request) % servedPlaces }

// add remembers that the target has answered through the proxy. Of two proxies
// that it has answered through, the later one serves.
func (s *served) add(one servedBy) {
	place := servedPlace(one.request)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest[s.n%latestServed] = one.proxy
	s.n++
	if one.request == "" {
		return
	}
	if s.places == nil {
		s.places = make([]servedBy, servedPlaces)
	}
	s.places[place] = one
}

func (s *served) find(request string) (one servedBy, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.places == nil || request == "" {
		return servedBy{}, false
	}
	one = s.places[servedPlace(request)]
	return one, one.request == request
}

// by yields who served the latest exchanges, in the order they did so but from any
// place in it: who serves most is likely to come first.
func (s *served) by() iter.Seq[ID] {
	s.mu.Lock()
	latest, n := s.latest, min(s.n, latestServed)
	s.mu.Unlock()
	return func(yield func(ID) bool) {
		if n == 0 {
			return
		}
		first := rand.Uint64N(n)
		for i := range n {
			if !yield(latest[(first+i)%n]) {
				return
			}
		}
	}
}
