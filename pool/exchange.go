package pool

import (
	"time"

	"swivel/breaker"
)

// Exchange is one client request from its head to its end: it gives leases on
// proxies and takes the signals of the attempts made with them. Call End when
// no more signals will come.
type Exchange struct {
	pool     *Pool
	target   uint64 // hash: the name itself is not needed
	attempts []Attempt
	pending  []*Lease // attempts whose end may be the target's fault
	named    int      // replies that blamed the target
	events   []Event

	// Room for the usual case, so that an exchange is one allocation.
	attemptRoom [2]Attempt
	eventRoom   [2]Event
}

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

// Event is a change of a proxy's breaker, to be stored, counted and logged.
type Event struct {
	Proxy  *Proxy
	Signal Signal
	Effect breaker.Effect
}

// Begin starts an exchange for the target ("host:port").
func (p *Pool) Begin(target string) *Exchange {
	x := &Exchange{pool: p, target: hashTarget(target)}
	x.attempts = x.attemptRoom[:0]
	x.events = x.eventRoom[:0]
	return x
}

// Attempts returns what was tried so far, in order.
func (x *Exchange) Attempts() []Attempt { return x.attempts }

// Next leases a proxy that this exchange has not tried. The lease of a probe is
// lost after the given time, so that an attempt that never reports cannot block
// the proxy's recovery. The events are those of the pick itself, also when no
// proxy is available, and valid until the next call.
func (x *Exchange) Next(now time.Time, leaseTime time.Duration) (*Lease, []Event, bool) {
	x.events = x.events[:0]
	g, ok := x.pick(now, leaseTime)
	if !ok {
		return nil, x.events, false
	}
	l := &Lease{Proxy: g.proxy, permit: g.permit, Probe: g.permit.Probe(), index: len(x.attempts)}
	x.attempts = append(x.attempts, Attempt{Proxy: g.proxy, Probe: l.Probe, Outcome: breaker.Ignored, Started: now})
	return l, x.events, true
}

// TargetToBlame says whether the proxies' own replies named the target as the
// one at fault often enough: another proxy would find the same.
func (x *Exchange) TargetToBlame() bool { return x.named >= 2 }

// Fault is why an attempt did not serve.
type Fault struct {
	Signal Signal
	Rest   time.Duration // how long the proxy asked to be left alone (HandshakeThrottled), else 0
	Err    error         // for the log; may be nil
}

// Fail reports that an attempt did not serve the exchange. A signal that may be
// the target's fault is kept until Reached or End decides.
// The events are valid until the next call.
func (x *Exchange) Fail(l *Lease, f Fault, now time.Time) []Event {
	x.events = x.events[:0]
	s := f.Signal
	if !x.record(l, s, now) {
		return nil
	}
	x.attempts[l.index].Err = f.Err
	outcome, doubt := s.outcome()
	if s == TargetNamed {
		x.named++
	}
	if doubt {
		if s == TunnelClosed || s == TunnelSilent {
			l.Proxy.failedTunnel.Store(true)
		}
		x.pending = append(x.pending, l)
		return nil
	}
	x.settle(l, breaker.Verdict{Outcome: outcome, Rest: f.Rest}, now)
	return x.events
}

// Reached reports that the target was reached through the lease's proxy: the
// attempt is a success, and those of this exchange that could not reach the
// target before are failures, since it was not the target's fault.
// The events are valid until the next call.
func (x *Exchange) Reached(l *Lease, s Signal, now time.Time) []Event {
	x.TargetUp(now)
	if x.record(l, s, now) {
		l.Proxy.failedTunnel.Store(false)
		x.settle(l, breaker.Verdict{Outcome: breaker.Success}, now)
	}
	return x.events
}

// TargetUp reports that the target was reached by the latest attempt, whose
// own verdict comes later: a reply whose body may still be cut short.
// The events are valid until the next call.
func (x *Exchange) TargetUp(now time.Time) []Event {
	x.events = x.events[:0]
	x.pool.reached.add(x.target, now)
	for _, l := range x.pending {
		x.settle(l, breaker.Verdict{Outcome: breaker.Failure}, now)
	}
	x.pending = x.pending[:0]
	return x.events
}

// Unused reports a tunnel that was opened and then asked for nothing, as
// browsers do in advance. It clears a resting proxy, unless that one was last
// seen failing behind its 2xx, and says nothing about another; but it shows
// that the target is up.
// The events are valid until the next call.
func (x *Exchange) Unused(l *Lease, now time.Time) []Event {
	x.TargetUp(now)
	if x.record(l, TunnelUnused, now) {
		v := breaker.Verdict{Outcome: breaker.Ignored}
		if l.Probe && !l.Proxy.failedTunnel.Load() {
			v.Outcome = breaker.Success
		}
		x.settle(l, v, now)
	}
	return x.events
}

// End closes the exchange. What is still in doubt is a mere suspicion now: it
// counts only when many come in a row, and only for a target that some proxy
// did reach lately; a batch of dead names proves nothing about a proxy.
// The events are valid until the next call.
func (x *Exchange) End(now time.Time) []Event {
	x.events = x.events[:0]
	counts := len(x.pending) > 0 && x.pool.reached.has(x.target, now)
	for _, l := range x.pending {
		l.settled = true
		if counts || l.Probe {
			x.note(l.Proxy, x.attempts[l.index].Signal, l.Proxy.breaker.Suspect(l.permit, now))
		} else {
			x.note(l.Proxy, x.attempts[l.index].Signal, l.Proxy.breaker.Report(l.permit, breaker.Verdict{Outcome: breaker.Ignored}, now))
		}
	}
	x.pending = x.pending[:0]
	return x.events
}

// record notes the signal of a lease once; false when it is settled already.
func (x *Exchange) record(l *Lease, s Signal, now time.Time) bool {
	a := &x.attempts[l.index]
	if l.settled || a.Signal != NoSignal {
		return false
	}
	a.Signal, a.Took = s, now.Sub(a.Started)
	return true
}

func (x *Exchange) settle(l *Lease, v breaker.Verdict, now time.Time) {
	l.settled = true
	x.attempts[l.index].Outcome = v.Outcome
	x.note(l.Proxy, x.attempts[l.index].Signal, l.Proxy.breaker.Report(l.permit, v, now))
}

func (x *Exchange) note(m *Proxy, s Signal, e breaker.Effect) {
	if e.Changed || e.Moved {
		x.events = append(x.events, Event{Proxy: m, Signal: s, Effect: e})
	}
}
