package pool

import (
	"hash/maphash"

	"swivel/breaker"
)

// Merge joins exact duplicates, that is specs of one identity, into the first
// of them and returns the rest in order, with the number of those that went.
// Weights add up; other attributes of a later line fill what the first left
// empty. It reuses the memory of the slice, and changes no Spec: they may be in
// use.
func Merge(specs []*Spec) (merged []*Spec, duplicates int) {
	seed, first := maphash.MakeSeed(), make(map[uint64]int32, len(specs)) // by the identity's hash
	merged = specs[:0]
	for i := range specs {
		atOnce.take(i)
		key := specs[i].identity()
		hash := maphash.Comparable(seed, key)
		at, taken := first[hash]
		for ; taken && merged[at].identity() != key; at, taken = first[hash] {
			hash++ // two have the same hash
		}
		if taken {
			merged[at] = merged[at].with(specs[i])
			continue
		}
		first[hash] = int32(len(merged))
		merged = append(merged, specs[i])
	}
	return merged, len(specs) - len(merged)
}

// with is the spec with the weight of a duplicate, and what it does not say itself.
func (s *Spec) with(d *Spec) *Spec {
	both := *s
	both.absorb(d)
	return &both
}

func (s *Spec) absorb(d *Spec) {
	s.Weight += d.Weight
	fill(&s.Name, d.Name)
	fill(&s.Provider, d.Provider)
	fill(&s.Region, d.Region)
	fill(&s.Country, d.Country)
	fill(&s.City, d.City)
	fill(&s.MaxInFlight, d.MaxInFlight)
	fill(&s.Rate, d.Rate)
	fill(&s.SNI, d.SNI)
	fill(&s.CA, d.CA)
	fill(&s.Insecure, d.Insecure)
	if len(s.Tags) == 0 {
		s.Tags = d.Tags
	}
	if !s.RotatingSet {
		s.Rotating, s.RotatingSet = d.Rotating, d.RotatingSet
	}
	if s.Breaker == (breaker.Overrides{}) {
		s.Breaker = d.Breaker
	}
}

// fill sets *to unless it holds something already.
func fill[T comparable](to *T, value T) {
	var zero T
	if *to == zero {
		*to = value
	}
}
