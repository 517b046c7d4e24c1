package breaker

import "math/bits"

// history is the last outcomes in their order, however old: the newest in the
// lowest bit, 1 for a failure.
type history struct {
	bits uint64
	held uint8 // how many there are, at most maxOutcomes
}

func (h *history) add(failed bool) {
	h.bits <<= 1
	if failed {
		h.bits |= 1
	}
	h.held = min(h.held+1, maxOutcomes)
}

// last counts the newest n, or all if there are fewer.
func (h history) last(n int) tally {
	n = min(n, int(h.held))
	newest := h.bits & (1<<n - 1)
	return tally{total: uint32(n), failures: uint32(bits.OnesCount64(newest))}
}

// The signs by which a history is stored.
const (
	plus  = '+' // a success
	minus = '-' // a failure
)

// text returns the newest n, oldest first.
func (h history) text(n int) string {
	n = min(n, int(h.held))
	text := make([]byte, n)
	for i := range text {
		text[i] = plus
		if h.bits>>(n-1-i)&1 == 1 {
			text[i] = minus
		}
	}
	return string(text)
}

// readHistory is the inverse of text. It skips what no history writes.
func readHistory(text string) history {
	var h history
	for _, sign := range text {
		if sign == plus || sign == minus {
			h.add(sign == minus)
		}
	}
	return h
}
