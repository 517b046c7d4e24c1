package breaker

import "time"

// block is how many measured successes are judged together.
const block = 10

// pace finds a proxy that has become slow: one whose p95 was over the limit in
// two blocks in a row. Of ten latencies the p95 is the longest, so one is enough
// to make a block slow, and there is nothing to be sorted or kept.
type pace struct {
	measured uint8 // in the block so far
	slow     bool  // the block so far
	before   bool  // the block before was slow
}

// add takes one latency, over the limit or not, and reports whether it ended
// the second slow block in a row.
func (p *pace) add(slow bool) bool {
	p.slow = p.slow || slow
	p.measured++
	if p.measured < block {
		return false
	}
	both := p.slow && p.before
	*p = pace{before: p.slow}
	return both
}

// slow reports whether a success took too long. A latency of 0 was not measured.
func (s Settings) slow(latency time.Duration) bool {
	return s.LatencyLimit > 0 && latency > s.LatencyLimit
}
