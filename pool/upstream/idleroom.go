package upstream

import "sync/atomic"

// idleRoom bounds the idle connections of all proxies together: a few each are
// more than there are descriptors when the proxies are many. It is safe for
// concurrent use; nil has room without end.
type idleRoom struct {
	most  int64
	taken atomic.Int64
}

// enter takes a place; false if there is none.
func (r *idleRoom) enter() bool {
	if r == nil {
		return true
	}
	if r.taken.Add(1) > r.most {
		r.taken.Add(-1)
		return false
	}
	return true
}

// leave gives n places back.
func (r *idleRoom) leave(n int) {
	if r != nil {
		r.taken.Add(-int64(n))
	}
}
