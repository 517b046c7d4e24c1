package tunnel

import (
	"sync"
	"time"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/pool"
)

// verdict watches the first bytes of one tunnel and says, once, what they mean
// for the proxy. The verdict falls at the first byte, not at the tunnel's end:
// a tunnel may stay open for hours.
type verdict struct {
	x      *attempts.Exchange
	lease  *pool.Lease
	limit  time.Duration // from the client's first byte to the target's
	opened time.Duration // from the lease to our 200

	mu    sync.Mutex
	timer *time.Timer
	asked time.Time // when the client first sent something; zero: not yet
	ended side      // first
	fixed bool
}

// side is one of the two ends of a tunnel.
type side uint8

const (
	neither side = iota
	clientSide
	upstreamSide
)

// watchFirstByte starts the watch; sent says that the client's first bytes
// are there already. The exchange belongs to the verdict from here on, which
// ends it.
func watchFirstByte(x *attempts.Exchange, l *pool.Lease, sent bool, limit time.Duration) *verdict {
	v := &verdict{x: x, lease: l, limit: limit, opened: x.Age(l)}
	if sent {
		v.asked = time.Now()
	}
	v.mu.Lock() // the timer may fire before it is assigned
	defer v.mu.Unlock()
	v.timer = time.AfterFunc(limit, v.timeout)
	return v
}

// Sent implements Observer.
func (v *verdict) Sent() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.asked.IsZero() {
		v.asked = time.Now()
	}
	if v.ended == upstreamSide { // the question crossed the proxy's FIN on the way
		v.noAnswer(pool.TunnelClosed)
	}
}

// Received implements Observer: a byte from the target settles everything.
func (v *verdict) Received() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fix(func() { v.x.Reached(v.lease, pool.FirstByte, v.latency()) })
}

// latency is how long the proxy and the target took to answer: from the lease to
// the 200 and from the question to the first byte, without the time in between
// in which the client asked nothing.
func (v *verdict) latency() time.Duration {
	if v.asked.IsZero() {
		return v.opened // a target that speaks first
	}
	return v.opened + time.Since(v.asked)
}

// UpstreamEnded implements Observer. An upstream that ends before its first
// byte leaves it open who is at fault, if it was asked for something at all.
// When it was not, the client's first bytes may just be on their way: whoever
// answers 200 to everything and hangs up must not get away with being quick.
func (v *verdict) UpstreamEnded() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended == neither {
		v.ended = upstreamSide
	}
	if v.ended == clientSide || !v.asked.IsZero() {
		v.noAnswer(pool.TunnelClosed)
	}
}

// ClientEnded implements Observer. It settles nothing yet: a client that has
// only shut down its writing side still gets its answer.
func (v *verdict) ClientEnded() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended == neither {
		v.ended = clientSide
	}
}

// Ended implements Observer: without a verdict so far, it was not the proxy
// who ended the tunnel.
func (v *verdict) Ended() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.noAnswer(pool.ClientGone)
}

// timeout looks whether the time for the answer is over. It began with the
// question, which may have come long after the tunnel was opened.
func (v *verdict) timeout() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fixed {
		return
	}
	if left := v.limit - time.Since(v.asked); !v.asked.IsZero() && left > 0 {
		v.timer.Reset(left)
		return
	}
	v.noAnswer(pool.TunnelSilent)
}

// noAnswer settles a tunnel on which nothing came back. What follows the
// client's own end says nothing about the proxy, which may only have passed
// that end on.
func (v *verdict) noAnswer(s pool.Signal) {
	v.fix(func() {
		switch {
		case v.asked.IsZero() && v.ended == upstreamSide:
			v.x.Fail(v.lease, pool.Fault{Signal: pool.TunnelUnused})
		case v.asked.IsZero():
			v.x.Unused(v.lease)
		case v.ended == clientSide:
			v.x.Fail(v.lease, pool.Fault{Signal: pool.ClientGone})
		default:
			v.x.Fail(v.lease, pool.Fault{Signal: s})
		}
	})
}

// fix gives the verdict, once. It is called with v.mu held.
func (v *verdict) fix(settle func()) {
	if v.fixed {
		return
	}
	v.fixed = true
	v.timer.Stop()
	settle()
	v.x.End()
}
