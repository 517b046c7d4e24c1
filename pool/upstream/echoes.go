package upstream

import (
	"hash/maphash"
	"sync"
)

// echoes notices that a plain request is on its way already. It may be somebody's
// second one of the same kind, or the first one that has come round because swivels
// list each other: those are told the hops then. Else nobody is, since a proxy may
// pass the field on, and what a target gets should be what the client has sent.
//
// It is safe for concurrent use. nil notices nothing.
type echoes struct {
	seed maphash.Seed
	mu   sync.Mutex
	away map[uint64]int // requests without an answer, by a hash of their heads
}

func newEchoes() *echoes { return &echoes{seed: maphash.MakeSeed(), away: map[uint64]int{}} }

// outbound is one request that is on its way. The zero value is none.
type outbound struct {
	of   *echoes
	hash uint64
}

// sent notes a request with this head, and says whether another one like it is on
// its way.
func (e *echoes) sent(head []byte) (one outbound, again bool) {
	if e == nil {
		return outbound{}, false
	}
	one = outbound{e, maphash.Bytes(e.seed, head)}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.away[one.hash]++
	return one, e.away[one.hash] > 1
}

// over says that the request has its answer, or will not get any.
func (o *outbound) over() {
	if o.of == nil {
		return
	}
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	if o.of.away[o.hash]--; o.of.away[o.hash] == 0 {
		delete(o.of.away, o.hash)
	}
	o.of = nil
}
