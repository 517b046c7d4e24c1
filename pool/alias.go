package pool

import "math/rand/v2"

// aliasTable draws an index with a probability proportional to its weight in
// constant time (Vose's form of Walker's alias method: M. D. Vose, "A linear
// algorithm for generating random numbers with a given distribution", 1991).
// One table access per draw is what keeps a pick cheap when 100,000 members do
// not fit the cache. The zero value draws nothing.
type aliasTable struct {
	cells []aliasCell
}

type aliasCell struct {
	keep  float32 // probability to stay in this cell
	alias uint32  // where to go otherwise
}

// newAliasTable builds the table of the weights, which are finite, not
// negative, and not all zero; else the table is empty.
func newAliasTable(weights []float64) aliasTable {
	var total float64
	for _, w := range weights {
		total += w
	}
	if total <= 0 {
		return aliasTable{}
	}
	n := len(weights)
	cells := make([]aliasCell, n)
	scaled := make([]float64, n)
	small, large := make([]uint32, 0, n), make([]uint32, 0, n)
	for i, w := range weights {
		scaled[i] = w / total * float64(n)
		if scaled[i] < 1 {
			small = append(small, uint32(i))
		} else {
			large = append(large, uint32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		cells[s] = aliasCell{keep: float32(scaled[s]), alias: l}
		if scaled[l] -= 1 - scaled[s]; scaled[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	for _, i := range large {
		cells[i] = aliasCell{keep: 1, alias: i}
	}
	for _, i := range small { // rounding only; a weight of zero must not slip in
		cells[i] = aliasCell{keep: 1, alias: i}
		if weights[i] == 0 {
			cells[i] = aliasCell{keep: 0, alias: heaviest(weights)}
		}
	}
	return aliasTable{cells}
}

func heaviest(weights []float64) uint32 {
	best := 0
	for i, w := range weights {
		if w > weights[best] {
			best = i
		}
	}
	return uint32(best)
}

// draw returns an index, or -1 from an empty table.
func (t aliasTable) draw() int {
	if len(t.cells) == 0 {
		return -1
	}
	r := rand.Uint64()
	i := uint32((r >> 32) * uint64(len(t.cells)) >> 32)
	if c := t.cells[i]; float32(uint32(r)>>8)*(1.0/(1<<24)) >= c.keep {
		return int(c.alias)
	}
	return int(i)
}
