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

// patience is the time that an attempt has before it is overtaken. It belongs to
// one goroutine.
type patience struct {
	timer *time.Timer
	over  time.Time // when the timer should go off
	looks int       // in a row that were too late to mean anything
}

func newPatience(d time.Duration) *patience {
	return &patience{timer: time.NewTimer(d), over: time.Now().Add(d)}
}

// begin starts the time anew.
func (p *patience) begin(d time.Duration) {
	p.looks = 0
	p.set(d)
}

func (p *patience) set(d time.Duration) {
	p.timer.Reset(d)
	p.over = time.Now().Add(d)
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
