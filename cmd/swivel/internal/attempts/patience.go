package attempts

import "time"

const (
	// heldUpBy is how late a timer goes off when it is this process that was held
	// up: the answer it waits for may be there, and unread.
	heldUpBy = 50 * time.Millisecond
	// secondLook is the time to read it, so often at most in a row.
	secondLook  = 20 * time.Millisecond
	secondLooks = 5
)

// patience is the time that an attempt has before it is overtaken, and that which
// all of them have. Both share a timer. It belongs to one goroutine.
type patience struct {
	timer *time.Timer
	over  time.Time // when the attempt's time is
	end   time.Time // when the time of all is; zero: it is
	looks int       // in a row that were too late to mean anything
}

func newPatience(attempt, all time.Duration) *patience {
	now := time.Now()
	return &patience{timer: time.NewTimer(min(attempt, all)), over: now.Add(attempt), end: now.Add(all)}
}

// begin gives the next attempt its time.
func (p *patience) begin(d time.Duration) {
	p.looks = 0
	p.set(d)
}

func (p *patience) set(d time.Duration) {
	now := time.Now()
	p.over = now.Add(d)
	if !p.end.IsZero() {
		d = min(d, p.end.Sub(now))
	}
	p.timer.Reset(d)
}

// ended says, when the timer has gone off, that the time of all attempts is over.
// It says so once; the attempt's own time goes on.
func (p *patience) ended() bool {
	if p.end.IsZero() || time.Now().Before(p.end) {
		return false
	}
	p.end = time.Time{}
	p.timer.Reset(time.Until(p.over))
	return true
}

// heldUp says, when the timer has gone off, that it did so far too late. On a
// machine that stands still for a moment all attempts of all proxies are overdue
// at once, and nothing is wrong with any. The timer then runs for a little longer.
func (p *patience) heldUp() bool {
	if p.looks == secondLooks || time.Since(p.over) < heldUpBy {
		return false
	}
	p.looks++
	p.set(secondLook)
	return true
}
