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
	x     *attempts.Exchange
	lease *pool.Lease
	timer *time.Timer

	mu    sync.Mutex
	sent  bool // the client has sent something
	fixed bool
}

// watchFirstByte starts the watch; sent says that the client's first bytes
// went out already. The exchange belongs to the verdict from here on, which
// ends it.
func watchFirstByte(x *attempts.Exchange, l *pool.Lease, sent bool, limit time.Duration) *verdict {
	v := &verdict{x: x, lease: l, sent: sent}
	v.timer = time.AfterFunc(limit, v.timeout)
	return v
}

// Sent implements Observer.
func (v *verdict) Sent() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sent = true
}

// Received implements Observer: a byte from the target settles everything.
func (v *verdict) Received() {
	v.timer.Stop()
	v.fix(func() { v.x.Reached(v.lease, pool.FirstByte) })
}

// UpstreamEnded implements Observer. An upstream that ends before its first
// byte leaves it open who is at fault, if it was asked for something at all.
func (v *verdict) UpstreamEnded() { v.noAnswer(pool.TunnelClosed) }

// Ended implements Observer: without a verdict so far, the client left.
func (v *verdict) Ended() { v.noAnswer(pool.ClientGone) }

func (v *verdict) timeout() { v.noAnswer(pool.TunnelSilent) }

// noAnswer settles a tunnel on which nothing came back.
func (v *verdict) noAnswer(s pool.Signal) {
	v.timer.Stop()
	v.fix(func() {
		if v.sent {
			v.x.Fail(v.lease, pool.Fault{Signal: s})
		} else {
			v.x.Unused(v.lease)
		}
	})
}

func (v *verdict) fix(settle func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fixed {
		return
	}
	v.fixed = true
	settle()
	v.x.End()
}
