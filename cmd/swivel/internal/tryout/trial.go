package tryout

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"swivel/pool"
	"swivel/pool/upstream"
)

// trial is what goes on with one proxy.
type trial struct {
	checker *Checker
	dialer  *upstream.Dialer
	spec    *pool.Spec
	ctx     context.Context // ends with the trial
	found   chan finding
}

// finding is what came of one protocol.
type finding struct {
	scheme  pool.Scheme
	latency time.Duration
	exit    netip.Addr
	err     error
}

// patience is the share of the time that the protocol of the line has for itself.
// It is longer than connecting may take, so that who is silent then is somebody
// who has been reached.
const patience = 0.6

// protocols are what a proxy may speak, whatever its line says.
var protocols = []pool.Scheme{pool.HTTP, pool.SOCKS5, pool.SOCKS4, pool.HTTPS}

// run tries the protocol of the line, and if that gets no answer that makes sense,
// the others beside it. Who answers first wins; of failures that of the line's
// own protocol counts.
func (t *trial) run() finding {
	listed := t.spec.Scheme
	go t.speak(listed)
	silent := time.NewTimer(time.Duration(patience * float64(t.checker.Timeout)))
	defer silent.Stop()
	var own finding
	running, asked := 1, false
	askOthers := func() {
		if asked {
			return
		}
		asked = true
		for _, other := range protocols {
			if !same(other, listed) {
				running++
				go t.speak(other)
			}
		}
	}
	for running > 0 {
		select {
		case <-silent.C:
			askOthers()
		case f := <-t.found:
			running--
			switch {
			case f.err == nil:
				t.drain(running)
				return f
			case f.scheme != listed && t.bare() && upstream.SignalOf(f.err) == pool.HandshakeAuth:
				own.err = fmt.Errorf("speaks %s and wants a password, which was not sent without TLS", f.scheme)
			case f.scheme == listed:
				if own = f; otherProtocol(f.err) && t.ctx.Err() == nil {
					askOthers()
				}
			}
		}
	}
	return own
}

// drain lets the others go: the end of the trial cuts them off.
func (t *trial) drain(running int) {
	go func() {
		for range running {
			<-t.found
		}
	}()
}

// speak tries one protocol.
func (t *trial) speak(scheme pool.Scheme) {
	spec := *t.spec
	spec.Scheme = scheme
	if scheme != t.spec.Scheme && t.bare() {
		spec.User, spec.Password, spec.HasAuth = "", "", false
	}
	f := t.checker.Target.reach(t.ctx, t.dialer, &spec, t.checker.Roots)
	f.scheme = scheme
	t.found <- f
}

// bare says that other protocols are tried without the credentials: those of an
// https proxy are not to be read by anybody on the way.
func (t *trial) bare() bool { return t.spec.Scheme == pool.HTTPS && t.spec.HasAuth }

// same: socks5h and socks5 are one protocol, and so are socks4a and socks4.
func same(a, b pool.Scheme) bool {
	fold := map[pool.Scheme]pool.Scheme{pool.SOCKS5H: pool.SOCKS5, pool.SOCKS4A: pool.SOCKS4}
	if to, ok := fold[b]; ok {
		b = to
	}
	return a == b
}

// otherProtocol says whether a failure may mean that the proxy speaks another
// protocol, or is allowed to: some know two versions of SOCKS, and serve one.
func otherProtocol(err error) bool {
	switch upstream.SignalOf(err) {
	case pool.DialTLS, pool.HandshakeGarbage, pool.HandshakeClosed, pool.HandshakeTimeout, pool.HandshakeRejected,
		pool.HandshakeDenied, pool.HandshakeFailed, pool.HandshakeUnsupported, pool.ResponseGarbage, pool.ResponseClosed:
		return true
	}
	return false
}

// reasonOf is an error for people, after the word that the log of the daemon has
// for it.
func reasonOf(err error) string {
	var failed *upstream.Error
	switch {
	case errors.As(err, &failed) && (failed.Signal == pool.ClientGone || failed.Signal == pool.HandshakeTimeout):
		return pool.HandshakeTimeout.String() + ": no answer in time" // it is our own clock that ran out
	case errors.As(err, &failed) && failed.Err != nil:
		return failed.Signal.String() + ": " + failed.Err.Error()
	case errors.As(err, &failed):
		return failed.Signal.String()
	}
	return err.Error()
}
