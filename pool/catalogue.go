package pool

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"

	"swivel/pool/route"
)

// catalogue finds members of a snapshot by what clients may ask for. Without it
// each new thing that somebody asks for would cost a look at the whole pool, and
// who asks for ever new ones, of which nobody has any, all of the processor. It
// is made when it is first needed. The zero value is ready.
type catalogue struct {
	traits sync.Once
	by     map[trait][]int32 // places of the members that have the trait, in order
	open   []int32           // of those with placeholders, which may have any

	names sync.Once
	named []label // sorted
}

// trait is something that a line says of its proxy, folded.
type trait struct {
	key   placeholder
	value string
}

// The keys of traits are those that placeholders may stand for, and these.
const (
	providerTrait placeholder = placeholders + iota
	tagTrait
	protocolTrait
)

// label is a member and what its label is hashed to.
type label struct {
	hash  uint64
	place int32
}

var labelSeed = maphash.MakeSeed()

// candidates returns the places of all members that meet the constraints, in
// order, and maybe of others. There is at least one constraint.
func (s *snapshot) candidates(c route.Constraints) []int32 {
	if c.Proxy != "" {
		return s.called(c.Proxy)
	}
	s.catalogue.traits.Do(s.list)
	var fewest []int32
	most := len(s.proxies) + 1
	for _, t := range traitsOf(c) {
		if t.value == "" {
			continue
		}
		places := s.catalogue.by[t]
		if t.key < placeholders {
			places = merged(places, s.catalogue.open)
		}
		if len(places) < most {
			fewest, most = places, len(places)
		}
	}
	return fewest
}

// traitsOf are what constraints ask for; those without a value are not asked for.
func traitsOf(c route.Constraints) [6]trait {
	return [...]trait{
		{countryHole, c.Country}, {regionHole, c.Region}, {cityHole, c.City},
		{providerTrait, c.Provider}, {tagTrait, c.Tag}, {protocolTrait, c.Protocol},
	}
}

// list enters the traits of all members.
func (s *snapshot) list() {
	by := map[trait][]int32{}
	for place, m := range s.proxies {
		atOnce.take(place)
		enter := func(key placeholder, value string) {
			t := trait{key, route.Fold(value)}
			if places := by[t]; value != "" && (len(places) == 0 || places[len(places)-1] != int32(place)) {
				by[t] = append(places, int32(place))
			}
		}
		enter(countryHole, m.Spec.Country)
		enter(regionHole, m.Spec.Region)
		enter(cityHole, m.Spec.City)
		enter(providerTrait, m.Spec.Provider)
		enter(protocolTrait, m.Spec.Scheme.canonical().String())
		for _, tag := range m.Spec.Tags {
			enter(tagTrait, tag)
		}
		if m.Spec.Templated() {
			s.catalogue.open = append(s.catalogue.open, int32(place))
		}
	}
	s.catalogue.by = by
}

// called returns the member with the id, or those with the label.
func (s *snapshot) called(proxy string) (places []int32) {
	if place, ok := s.place(ID(proxy)); ok {
		places = append(places, int32(place))
	}
	s.catalogue.names.Do(s.listNames)
	hash := maphash.String(labelSeed, proxy)
	first, _ := slices.BinarySearchFunc(s.catalogue.named, hash, func(n label, hash uint64) int { return cmp.Compare(n.hash, hash) })
	for _, n := range s.catalogue.named[first:] {
		if n.hash != hash {
			break
		}
		places = append(places, n.place)
	}
	slices.Sort(places)
	return slices.Compact(places)
}

func (s *snapshot) listNames() {
	all := make([]label, len(s.proxies))
	for place, m := range s.proxies {
		atOnce.take(place)
		all[place] = label{maphash.String(labelSeed, route.Fold(m.Spec.Label())), int32(place)}
	}
	slices.SortFunc(all, func(a, b label) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.place, b.place)) })
	s.catalogue.named = all
}

// merged returns what either of two sorted lists has.
func merged(a, b []int32) []int32 {
	if len(b) == 0 {
		return a
	}
	both := slices.Concat(a, b)
	slices.Sort(both)
	return slices.Compact(both)
}
