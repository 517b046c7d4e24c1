package pool

import (
	"slices"
	"time"

	"swivel/breaker"
)

// Attempt is what became of one lease, for the log.
type Attempt struct {
	Proxy   *Proxy
	Signal  Signal
	Outcome breaker.Outcome
	Probe   bool
	Started time.Time
	Took    time.Duration
	Err     error // why it failed, for the log only; nil if nobody said
}

// Attempts returns a copy of what was tried so far, in order.
func (x *Exchange) Attempts() []Attempt {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]Attempt(nil), x.attempts...)
}

// overdueLimit is how many overdue attempts suspend a proxy.
const overdueLimit = 5

// Overdue notes that the attempt has been without an answer for longer than is
// usual. A client that leaves after that does not clear the proxy. And a proxy
// with many overdue attempts on targets that others do reach meanwhile is not
// picked until one is decided: a black hole must not swallow the traffic while
// its time-outs run, but a target that hangs must not suspend the whole pool.
func (x *Exchange) Overdue(l *Lease, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := &x.attempts[l.index]
	if l.overdue || l.answered || a.Signal != NoSignal {
		return
	}
	l.overdue = true
	x.late = append(x.late, l)
	if x.pool.memory.reachedSince(x.target, a.Started, now) {
		x.countOverdue(l, now)
	}
}

// countOverdue counts an overdue attempt against its proxy, once. It does not if
// the proxy has served somebody since the attempt began: packets get lost on the
// way to the best of proxies, and a black hole serves nobody.
func (x *Exchange) countOverdue(l *Lease, now time.Time) {
	if !l.counted && x.attempts[l.index].Signal == NoSignal && l.Proxy.lastSuccess.Load() < l.Started.UnixNano() {
		l.counted = true
		if l.Proxy.overdue.Add(1) == overdueLimit {
			x.pool.refresh(l.Proxy, now)
		}
	}
}

// notOverdue ends what Overdue began: the attempt has an answer.
func (x *Exchange) notOverdue(l *Lease, now time.Time) {
	l.overdue = false
	x.late = slices.DeleteFunc(x.late, func(o *Lease) bool { return o == l })
	x.uncountOverdue(l, now)
}

func (x *Exchange) uncountOverdue(l *Lease, now time.Time) {
	if !l.counted {
		return
	}
	l.counted = false
	if l.Proxy.overdue.Add(-1) == overdueLimit-1 {
		x.pool.refresh(l.Proxy, now)
	}
}

// Fault is why an attempt did not serve.
type Fault struct {
	Signal Signal
	Rest   time.Duration // how long the proxy asked to be left alone (HandshakeThrottled), else 0
	Err    error         // for the log; may be nil
}

// Fail reports that an attempt did not serve the exchange. A signal that may be
// the target's fault is kept until Reached, another exchange or time decides.
func (x *Exchange) Fail(l *Lease, f Fault, now time.Time) (events []Event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.record(l, f.Signal, now) {
		return nil
	}
	x.attempts[l.index].Err = f.Err
	x.redirectedFailed(l, f.Signal)
	outcome, doubt := f.Signal.outcome()
	switch {
	case doubt, f.Signal == ClientGone && l.overdue:
		if f.Signal == TunnelClosed || f.Signal == TunnelSilent {
			l.Proxy.marks.set(failedTunnel)
		}
		x.pending = append(x.pending, l)
	case f.Signal == HandshakeDenied:
		if x.denied(l, now) {
			outcome = breaker.Refused
		}
		x.settle(l, breaker.Verdict{Outcome: outcome}, now, &events)
	default:
		if f.Signal == TargetNamed {
			x.named++
		}
		x.settle(l, breaker.Verdict{Outcome: outcome, Rest: f.Rest}, now, &events)
	}
	x.judgeIfOver(now, &events)
	return events
}

// Reached reports that the target was reached through the lease's proxy: the
// attempt is a success, and those that could not reach the target before are
// failures, since it was not the target's fault. took is the time to the first
// byte, 0 if it was not measured.
func (x *Exchange) Reached(l *Lease, s Signal, took time.Duration, now time.Time) (events []Event) {
	x.served(l)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.targetUp(l.Proxy, now, &events)
	if x.record(l, s, now) {
		l.Proxy.marks.clear(failedTunnel)
		x.settle(l, breaker.Verdict{Outcome: breaker.Success, Latency: took}, now, &events)
	}
	x.judgeIfOver(now, &events)
	return events
}

// TargetUp reports that the target was reached by the lease's attempt, whose
// own verdict comes later: a reply whose body may still be cut short.
func (x *Exchange) TargetUp(l *Lease, now time.Time) (events []Event) {
	x.served(l)
	x.mu.Lock()
	defer x.mu.Unlock()
	l.answered = true
	x.notOverdue(l, now)
	x.targetUp(l.Proxy, now, &events)
	return events
}

// served remembers who served the exchange, for what its client may report.
func (x *Exchange) served(l *Lease) {
	if !x.canary {
		x.pool.served.add(servedBy{x.id, l.Proxy.ID, x.name})
	}
}

// Unused reports a tunnel that was opened and then asked for nothing, as
// browsers do in advance. It clears a resting proxy, unless that one was last
// seen failing behind its 2xx, and says nothing about another; but it shows
// that the target is up.
//
// took is how long the handshake of an attempt that was overtaken lasted, 0 for
// a tunnel that its client left alone: who is always overtaken is too slow, and
// nobody else would see it.
func (x *Exchange) Unused(l *Lease, took time.Duration, now time.Time) (events []Event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.targetUp(l.Proxy, now, &events)
	if x.record(l, TunnelUnused, now) {
		v := breaker.Verdict{Outcome: breaker.Ignored}
		limit := SettingsOf(l.Proxy.Spec, x.pool.options.Breaker).LatencyLimit
		if l.Probe && !l.Proxy.marks.has(failedTunnel) || limit > 0 && took > limit {
			v = breaker.Verdict{Outcome: breaker.Success, Latency: took}
		}
		x.settle(l, v, now, &events)
	}
	x.judgeIfOver(now, &events)
	return events
}

// record notes the signal of a lease once; false when it is settled already.
func (x *Exchange) record(l *Lease, s Signal, now time.Time) bool {
	a := &x.attempts[l.index]
	if l.settled || a.Signal != NoSignal {
		return false
	}
	a.Signal, a.Took = s, now.Sub(a.Started)
	x.running--
	x.uncountOverdue(l, now)
	return true
}

// event is what the settling of a lease is reported as.
func (x *Exchange) event(l *Lease) Event {
	return Event{Signal: x.attempts[l.index].Signal, Request: x.id, began: l.Started, canary: x.canary}
}

// settle gives the verdict on a lease to its proxy.
func (x *Exchange) settle(l *Lease, v breaker.Verdict, now time.Time, events *[]Event) {
	l.settled = true
	x.attempts[l.index].Outcome = x.pool.settle(l.Proxy, l.permit, v, x.event(l), now, events)
}
