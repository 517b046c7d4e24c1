package pool

import (
	"cmp"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"swivel/breaker"
	"swivel/pool/route"
)

// Exchange is one client request from its head to its end: it gives leases on
// proxies and takes the signals of the attempts made with them, of which
// several may run at once. It is safe for concurrent use. Call End when no more
// leases will be asked for; attempts still under way may report after it.
type Exchange struct {
	pool   *Pool
	id     string
	target targetKey
	name   string // of the target
	banned []ban  // as they were when it began

	asked *asked // nil: for nothing, as most clients do

	mu       sync.Mutex
	attempts []Attempt
	pending  []*Lease // attempts whose end may be the target's fault
	late     []*Lease // attempts that became overdue
	running  int32    // leases without a signal
	named    int32    // replies that blamed the target
	canary   bool     // see Request; never changes
	sentAway bool     // by a segment
	ended    bool
	judged   bool
	seen     struct { // of the latest pick
		*snapshot
		*view
	}

	// Room for the usual case, so that an exchange is one allocation.
	attemptRoom [1]Attempt
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

// Event is a change to be stored, counted and logged: of a proxy's breaker, or
// of the guard against local outages.
type Event struct {
	Proxy   *Proxy // nil for an Outage
	Signal  Signal
	Effect  breaker.Effect
	Request string // the exchange that caused it
	Segment string // the breaker is not the proxy's but its segment's
	Outage  Outage
	Fleet   bool // it was another instance that found it out

	began  time.Time // the attempt
	canary bool      // the exchange was one
}

// Refusal is why an exchange is not even begun.
type Refusal struct {
	TargetDown bool // else: a local outage
	RetryAfter time.Duration
}

// Request is what is known of an exchange when it begins.
type Request struct {
	ID     string // for the log
	Target string // host:port
	Client string // who asks, by name: whose the session is; "" if nobody said
	Route  route.Route
	// Canary: no client asks. The exchange tests resting proxies, see Aside, and
	// nobody else; its attempts are counted apart.
	Canary bool
}

// asked is what the client of an exchange asks for.
type asked struct {
	route       route.Route
	constraints route.Constraints
	sticky      sticky
}

func (p *Pool) asked(r Request) *asked {
	return &asked{
		route: r.Route, constraints: r.Route.Constraints(),
		sticky: sticky{id: p.SessionID(r.Client, r.Route), ttl: cmp.Or(r.Route.TTL, p.options.SessionTTL), strict: r.Route.Strict},
	}
}

// Begin starts an exchange. It is refused, with a Refusal that is not nil, when
// the target is known to be down or everything is. The events are what time
// alone has brought.
func (p *Pool) Begin(r Request, now time.Time) (*Exchange, *Refusal, []Event) {
	id := r.ID
	x := &Exchange{pool: p, id: id, target: keyOf(r.Target), name: r.Target, canary: r.Canary}
	if r.Route != (route.Route{}) {
		x.asked = p.asked(r)
	}
	x.attempts = x.attemptRoom[:0]
	if !r.Canary {
		p.probeShare.Earn()
	}
	events := p.lapse(now)
	admitted, change := p.outage.admit(now)
	events = appendOutage(events, change, id)
	if !admitted {
		return x, &Refusal{RetryAfter: time.Second}, events
	}
	if wait := p.targetWait(x.target, now); wait > 0 {
		return x, &Refusal{TargetDown: true, RetryAfter: wait}, events
	}
	x.banned = p.banned(x.target, now)
	return x, nil, events
}

func appendOutage(events []Event, change Outage, id string) []Event {
	if change == NoOutage {
		return events
	}
	return append(events, Event{Outage: change, Request: id})
}

// Attempts returns a copy of what was tried so far, in order.
func (x *Exchange) Attempts() []Attempt {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]Attempt(nil), x.attempts...)
}

// Next leases a proxy that this exchange has not tried. mayProbe says that the
// first attempt may be the test of a resting proxy although others could serve.
// The lease of a probe is lost after the given time, so that an attempt that
// never reports cannot block the proxy's recovery. The events are those of the
// pick itself, also when no proxy is available.
func (x *Exchange) Next(now time.Time, leaseTime time.Duration, mayProbe bool) (*Lease, []Event, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var events []Event
	g, ok := x.pick(now, leaseTime, mayProbe, &events)
	if !ok {
		return nil, events, false
	}
	l := x.lease(g, now)
	if x.asked != nil {
		l.home, l.left = x.asked.sticky.home, x.asked.sticky.left
	}
	return l, events, true
}

// lease makes an attempt of a grant. x.mu is held.
func (x *Exchange) lease(g grant, now time.Time) *Lease {
	l := &Lease{pool: x.pool, request: x.id, Proxy: g.proxy, Spec: x.fill(g.proxy.Spec), permit: g.permit, Probe: g.permit.probe(), Started: now, index: int32(len(x.attempts))}
	x.attempts = append(x.attempts, Attempt{Proxy: g.proxy, Probe: l.Probe, Outcome: breaker.Ignored, Started: now})
	x.running++
	g.proxy.picks.Add(1)
	if x.sentAway {
		l.redirected = true
		x.pool.segments.redirected.attempts.Add(1)
	}
	return l
}

// fill puts what the client asks for into the credentials of a gateway.
func (x *Exchange) fill(s *Spec) *Spec {
	if !s.Templated() {
		return s
	}
	var r route.Route
	if x.asked != nil {
		r = x.asked.route
	}
	return s.For(r, strconv.FormatUint(rand.Uint64(), 36))
}

// TargetToBlame says whether the proxies' own replies named the target as the
// one at fault often enough: another proxy would find the same.
func (x *Exchange) TargetToBlame() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.named >= 2
}

// Overdue notes that the attempt has been without an answer for longer than is
// usual. A client that leaves after that does not clear the proxy. And a proxy
// with many overdue attempts on targets that others do reach meanwhile is not
// picked until one is decided: a black hole must not swallow the traffic while
// its time-outs run, but a target that hangs must not suspend the whole pool.
func (x *Exchange) Overdue(l *Lease, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := &x.attempts[l.index]
	if l.overdue || a.Signal != NoSignal {
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

// End says that no more leases will be asked for. What is in doubt is judged
// when the last attempt has reported.
func (x *Exchange) End(now time.Time) (events []Event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended = true
	x.seen.snapshot, x.seen.view = nil, nil // a tunnel may last longer than many of them
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
	if l.counted && l.Proxy.overdue.Add(-1) == overdueLimit-1 {
		x.pool.refresh(l.Proxy, now)
	}
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
