package forward

import (
	"time"

	"swivel/pool"
	"swivel/pool/upstream"
)

// limitTest bounds the time that the body of a test has: others wait for its verdict,
// and its lease does not last as long as a body may.
func (x *exchange) limitTest(l *pool.Lease) {
	x.probe = time.AfterFunc(x.handler.settings.ProbeBody, func() { x.Exchange.Reached(l, pool.Response, 0) })
}

// replaced ends an attempt whose response is not wanted, now that there is another
// one. The rest of a test is not what the client waits for.
func (x *exchange) replaced(l *pool.Lease, left answer) {
	if l.Probe {
		x.probe.Stop()
		x.probe = nil
		x.Exchange.Behind(func() {
			x.late(l, left)
			l.Release()
		})
		return
	}
	left.resp.Close()
	l.Release()
}

// What an overtaken test of a resting proxy has to bring of its body: nobody waits
// for that, and it is paid for.
const (
	lateBody = 64 << 10
	lateTime = time.Second
)

// late settles an attempt that was overtaken, or a test that was replaced.
func (x *exchange) late(l *pool.Lease, late answer) {
	if l.Probe {
		if err := late.resp.Drain(lateBody, lateTime); err != nil {
			late.resp.Close()
			x.Exchange.Fail(l, pool.Fault{Signal: upstream.BodyError(err)})
			return
		}
	}
	late.resp.Close()
	x.Exchange.Reached(l, pool.Response, 0)
}
