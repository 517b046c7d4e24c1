package front

import (
	"sync/atomic"
	"time"

	"swivel/pool/route"
)

// slipEvery is how often the log tells of a user name with a routing key that is
// none, at most: who has one sends it with every request.
const slipEvery = time.Minute

// slips are user names that look as if a routing key was meant in them. Where
// nobody has to log in any name passes, so that nobody would notice. The zero
// value is ready; it is safe for concurrent use.
type slips struct{ told atomic.Int64 } // unix nanoseconds

// warnOfSlip has the log name the key that the client of a request may have meant.
// The user name itself is not for the log. It is searched only when there would be
// something to tell: who has a slip brings it with every request.
func (c *client) warnOfSlip(r *request, now time.Time) {
	if r.user != "" || r.name == "" { // as nearly always, or a configured user
		return
	}
	slips, told := &c.front.slips, c.front.slips.told.Load()
	if now.UnixNano()-told < int64(slipEvery) {
		return
	}
	key, missing := route.Slip(r.name)
	if key == "" || !slips.told.CompareAndSwap(told, now.UnixNano()) {
		return
	}
	text := "the user name holds a word that is almost a routing key: it is taken for a part of the name, and any proxy serves"
	if missing {
		text = "the user name ends with a routing key that has no value: it is taken for a part of the name, and any proxy serves"
	}
	c.front.Log.Warn().Str("request", r.id).Str("client", c.name).Str("key", key).Msg(text)
}
