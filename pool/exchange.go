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
	l := &Lease{
		pool: x.pool, request: x.id, index: int32(len(x.attempts)), Started: now,
		Proxy: g.proxy, Spec: x.fill(g.proxy.Spec), permit: g.permit, Probe: g.permit.probe(),
	}
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
