package tunnel

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/pool"
)

// verdict watches the first bytes of one tunnel and says, once, what they mean
// for the proxy. The verdict falls at the first byte, not at the tunnel's end:
// a tunnel may stay open for hours. When it falls against the proxy the tunnel
// may go on through another one, on which there is a verdict of its own.
type verdict struct {
	x     *attempts.Exchange
	limit time.Duration // from the client's first byte to the target's
	failover
	stays atomic.Bool // with its proxy, for good
	wrote bool        // something; for Write alone

	mu     sync.Mutex
	lease  *pool.Lease
	opened time.Duration // from the lease to our 200
	timer  *time.Timer
	asked  time.Time     // when the client first sent something; zero: not yet
	ended  side          // first
	fixed  bool          // the verdict on the lease has fallen
	done   bool          // so has the last one
	kept   kept          // what another proxy would be sent
	moving *move         // nil: not now
	asking chan struct{} // who waits for the client's first bytes; nil: nobody
}

// side is one of the two ends of a tunnel.
type side uint8

const (
	neither side = iota
	clientSide
	upstreamSide
)

// watchFirstByte starts the watch; early is what the client has sent already.
// The exchange belongs to the verdict from here on, which ends it.
func watchFirstByte(x *attempts.Exchange, l *pool.Lease, early []byte, limit time.Duration, f failover) *verdict {
	v := &verdict{x: x, lease: l, limit: limit, opened: x.Age(l), failover: f}
	v.mu.Lock() // the timer may fire before it is assigned
	defer v.mu.Unlock()
	v.keepFrom(early)
	if len(early) > 0 {
		v.asked = time.Now()
	}
	v.timer = time.AfterFunc(limit, v.timeout)
	return v
}

// Sent implements Observer. What it means is for ask to say, which sees the
// bytes.
func (v *verdict) Sent() {}

// ask notes what the client sends. It goes to the connection that ask returns;
// kept says that the tunnel may still move, and the bytes with it.
func (v *verdict) ask(b []byte) (to net.Conn, kept bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.asked.IsZero() {
		v.asked = time.Now()
	}
	v.kept.add(b)
	crossed := v.ended == upstreamSide && v.asking == nil // the question and the proxy's FIN, on the way
	v.wake()
	if v.kept.what == notHello {
		v.stay()
	}
	if crossed {
		v.noAnswer(pool.TunnelClosed)
	}
	if v.tunnel != nil {
		to = v.tunnel.current()
	}
	return to, !v.stays.Load()
}

// Received implements Observer: a byte from the target settles everything.
func (v *verdict) Received(from net.Conn) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.movedFrom(from) {
		return false
	}
	v.fix(func() { v.x.Reached(v.lease, pool.FirstByte, v.latency()) })
	v.stay()
	return true
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

// proxy is whose verdict is the last.
func (v *verdict) proxy() *pool.Proxy {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.lease.Proxy
}

// release says that the tunnel no longer uses a proxy.
func (v *verdict) release() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.lease.Release()
}

// UpstreamEnded implements Observer. An upstream that ends before its first
// byte leaves it open who is at fault, if it was asked for something at all.
// When it was not, the client's first bytes may just be on their way: whoever
// answers 200 to everything and hangs up must not get away with being quick.
func (v *verdict) UpstreamEnded(from net.Conn) (moved bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.movedFrom(from) {
		return true
	}
	if v.ended == neither {
		v.ended = upstreamSide
	}
	v.awaitQuestion()
	if v.moving == nil && (v.ended == clientSide || !v.asked.IsZero()) {
		v.noAnswer(pool.TunnelClosed)
	}
	return v.awaitMove()
}

// ClientEnded implements Observer. It settles nothing yet: a client that has
// only shut down its writing side still gets its answer.
func (v *verdict) ClientEnded() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended == neither {
		v.ended = clientSide
	}
	v.stay()
}

// Ended implements Observer: without a verdict so far, it was not the proxy
// who ended the tunnel. A move does not outlive it.
func (v *verdict) Ended() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stay()
	v.noAnswer(pool.ClientGone)
	if v.moving != nil {
		v.awaitMove()
	}
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
// that end on. It is called with v.mu held.
func (v *verdict) noAnswer(s pool.Signal) {
	if v.fixed {
		return
	}
	failed := v.lease
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
	if v.mayMove(s) {
		v.startMove(failed)
		return
	}
	v.stay()
}

// fix gives the verdict on the lease, once. It is called with v.mu held.
func (v *verdict) fix(settle func()) {
	if v.fixed {
		return
	}
	v.fixed = true
	v.timer.Stop()
	settle()
}

// stay rules out that the tunnel moves from here on, and ends the exchange when
// all has been said. It is called with v.mu held.
func (v *verdict) stay() {
	if !v.stays.Swap(true) {
		v.kept.drop()
		v.wake()
	}
	if v.moving != nil {
		v.moving.cancel()
		return
	}
	if v.tunnel != nil { // what it waits with holds half a KiB, for a move that will not be
		v.ctx = nil
		v.tunnel.stopWaiting()
	}
	if v.fixed && !v.done {
		v.done = true
		v.timer = nil
		v.x.End()
	}
}
