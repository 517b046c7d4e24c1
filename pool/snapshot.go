package pool

import (
	"strconv"

	"swivel/pool/route"
)

// snapshot is one generation of members. Who they are never changes.
type snapshot struct {
	proxies []*Proxy
	places  map[uint64]int32 // in proxies, by the number that the ID is
	all     *view            // also in views, under no constraints

	catalogue catalogue
	views     views
}

func newSnapshot(n int) *snapshot {
	s := &snapshot{proxies: make([]*Proxy, 0, n), places: make(map[uint64]int32, n)}
	s.views.room = viewRoom * max(n, 1000)
	return s
}

// add makes the proxy the last one of the members.
func (s *snapshot) add(m *Proxy) {
	if n, ok := m.ID.number(); ok {
		s.places[n] = int32(len(s.proxies))
	}
	s.proxies = append(s.proxies, m)
}

// get returns the member with the id.
func (s *snapshot) get(id ID) (*Proxy, bool) {
	place, ok := s.place(id)
	if !ok {
		return nil, false
	}
	return s.proxies[place], true
}

// place returns where in proxies the member with the id stands.
func (s *snapshot) place(id ID) (int, bool) {
	n, ok := id.number()
	if !ok {
		return 0, false
	}
	place, ok := s.places[n]
	if !ok || s.proxies[place].ID != id { // a number can be spelt in two ways
		return 0, false
	}
	return int(place), true
}

// number is what a member's id says. The ids of others need not be numbers.
func (id ID) number() (uint64, bool) {
	n, err := strconv.ParseUint(string(id), 16, 64)
	return n, err == nil
}

// watch makes the view of all members.
func (s *snapshot) watch(strategy Strategy, b *breath) {
	places := make([]int32, len(s.proxies))
	for place := range places {
		places[place] = int32(place)
	}
	s.all = newView(s.proxies, places, route.Constraints{}, strategy, b)
	s.views.add(route.Constraints{}, s.all, b)
}

// refresh takes note of whether a proxy is usable now. It returns the member
// that it is in this snapshot; false when a reload has removed it.
func (s *snapshot) refresh(m *Proxy) (*Proxy, bool) {
	place, in := s.place(m.ID)
	if !in || s.proxies[place].runtime != m.runtime {
		return nil, false
	}
	s.views.refresh(place)
	return s.proxies[place], true
}

// holds says whether the snapshot has the proxy as it is, and the view too.
func (s *snapshot) holds(m *Proxy, v *view) bool {
	place, in := s.place(m.ID)
	return in && s.proxies[place] == m && v.has(place)
}
