package fleet

import (
	"time"

	"swivel/storage"
)

// clock translates between this machine's time and the hub's, which is that of
// the fleet: whose clock is off is understood all the same.
type clock struct {
	offset time.Duration // the hub's time minus this machine's
	known  bool
}

// learn takes a reading of the hub's clock that was made between asked and heard.
// The offset moves no further than such a reading proves it wrong: most of them
// only tell how long the call took.
func (c *clock) learn(hub storage.Moment, asked, heard time.Time) {
	at := time.UnixMicro(int64(hub))
	least, most := at.Sub(heard.Round(0)), at.Sub(asked.Round(0))
	if !c.known {
		c.offset, c.known = (least+most)/2, true
	}
	c.offset = min(max(c.offset, least), max(most, least))
}

// moment is a time of this machine as the fleet has it; none for the zero time.
func (c *clock) moment(t time.Time) storage.Moment {
	if t.IsZero() {
		return 0
	}
	return storage.Moment(t.Add(c.offset).UnixMicro())
}

// time is the inverse.
func (c *clock) time(m storage.Moment) time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(m)).Add(-c.offset)
}
