package pool

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"sync/atomic"
	"time"

	"swivel/breaker"
)

// Segments are for faults that many proxies share: a provider's account that has
// run out, a region that is cut off. A segment is the proxies of one provider,
// region and protocol; its breaker is the same machine as a proxy's, over the
// last outcomes of all of them. They are off unless Options.Segment is set.

// SegmentOptions switch segments on.
type SegmentOptions struct {
	// Breaker are the limits of a segment's breaker; see
	// breaker.Settings.Segment.
	Breaker breaker.Settings
	// MaxShare is the most that one segment gets of the recent picks while
	// another one rests and its traffic has to go elsewhere; 0: no limit.
	MaxShare float64
}

// segment is one of them. It outlives reloads.
type segment struct {
	name    string // "provider/region/protocol"
	index   uint16 // in the record of recent picks
	breaker *breaker.Breaker
}

// segments are all there are. The zero value has none and costs nothing.
type segments struct {
	options *SegmentOptions
	resting atomic.Int64 // segments that are not in use
	// redirected are the counters behind Redirected.
	redirected struct{ exchanges, attempts, failures atomic.Uint64 }

	mu     sync.Mutex
	byName map[string]*segment
	recent recentPicks
}

// SegmentName is the segment of a proxy; "" if its line names neither provider
// nor region.
func SegmentName(s *Spec) string {
	if s.Provider == "" && s.Region == "" {
		return ""
	}
	return s.Provider + "/" + s.Region + "/" + s.Scheme.canonical().String()
}

// SegmentID is the id under which a segment's state is stored: like a proxy's it
// says nothing about what it stands for.
func SegmentID(name string, salt []byte) ID {
	mac := hmac.New(sha256.New, salt)
	mac.Write([]byte("segment/" + name))
	return ID("segment-" + hex.EncodeToString(mac.Sum(nil)[:8]))
}

// of returns the proxy's segment, made if need be; nil when segments are off or
// it has none.
func (g *segments) of(spec *Spec, made func(name string) *breaker.Breaker) *segment {
	name := SegmentName(spec)
	if g.options == nil || name == "" {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if s, ok := g.byName[name]; ok {
		return s
	}
	s := &segment{name: name, index: uint16(len(g.byName) + 1), breaker: made(name)}
	if g.byName == nil {
		g.byName = map[string]*segment{}
	}
	g.byName[name] = s
	if s.breaker.Resting() {
		g.resting.Add(1)
	}
	return s
}

// full says whether the segment has had its share of the recent picks, at a time
// when it gets some of another one's.
func (g *segments) full(s *segment) bool {
	if g.options == nil || g.options.MaxShare <= 0 || g.resting.Load() == 0 {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.recent.share(s.index) >= g.options.MaxShare
}

// note records a pick, for the shares.
func (g *segments) note(s *segment) {
	if g.options == nil || g.options.MaxShare <= 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.recent.add(s.index)
}

// recentPicks are the segments of the last picks. The zero value is empty.
type recentPicks struct {
	ring  [256]uint16 // 0: none yet
	next  int
	count map[uint16]int
}

func (r *recentPicks) add(segment uint16) {
	if r.count == nil {
		r.count = map[uint16]int{}
	}
	if old := r.ring[r.next]; old != 0 {
		r.count[old]--
	}
	r.ring[r.next] = segment
	r.count[segment]++
	r.next = (r.next + 1) % len(r.ring)
}

func (r *recentPicks) share(segment uint16) float64 {
	return float64(r.count[segment]) / float64(len(r.ring))
}

// Redirected is what became of the exchanges of which a pick fell on a segment
// that rests, or has had its share.
type Redirected struct {
	Exchanges uint64
	Attempts  uint64 // that they made after that
	Failures  uint64 // attempts among them that did not serve, whoever was to blame but for client and daemon
}

// Redirected returns the counts since the start: whether a segment's rest helps
// shows in how the others bear its traffic.
func (p *Pool) Redirected() Redirected {
	r := &p.segments.redirected
	return Redirected{Exchanges: r.exchanges.Load(), Attempts: r.attempts.Load(), Failures: r.failures.Load()}
}

// redirect notes that the exchange goes elsewhere. x.mu is held.
func (x *Exchange) redirect() {
	if !x.sentAway {
		x.sentAway = true
		x.pool.segments.redirected.exchanges.Add(1)
	}
}

// redirectedFailed counts the failure of a redirected exchange's attempt.
func (x *Exchange) redirectedFailed(l *Lease, s Signal) {
	if l.redirected && s != ClientGone && s != LocalFault {
		x.pool.segments.redirected.failures.Add(1)
	}
}

// Segment is a segment as it stands, to be shown or stored.
type Segment struct {
	Name    string
	Breaker *breaker.Breaker
}

// Segments returns those of the pool's members, in no particular order.
func (p *Pool) Segments() (all []Segment) {
	p.segments.mu.Lock()
	defer p.segments.mu.Unlock()
	for _, s := range p.segments.byName {
		all = append(all, Segment{Name: s.name, Breaker: s.breaker})
	}
	return all
}

// SegmentBreaker is the breaker of the proxy's segment; nil if it has none.
func (p *Proxy) SegmentBreaker() *breaker.Breaker {
	if p.segment == nil {
		return nil
	}
	return p.segment.breaker
}

// segmentVerdict is what an attempt's outcome says about the segment. A proxy
// that refuses us does so for reasons that its siblings share; one that asks for
// a pause speaks for itself.
func segmentVerdict(v breaker.Verdict) breaker.Verdict {
	switch v.Outcome {
	case breaker.Refused:
		v.Outcome = breaker.Failure
	case breaker.Throttled:
		v.Outcome = breaker.Ignored
	}
	v.Rest, v.Alone = 0, false
	return v
}

// settleSegment gives the verdict to the segment's breaker too.
func (p *Pool) settleSegment(m *Proxy, permit breaker.Permit, v breaker.Verdict, ev Event, now time.Time, events *[]Event) {
	if m.segment != nil {
		p.noteSegment(m, m.segment.breaker.Report(permit, segmentVerdict(v), now), ev, events)
	}
}

// noteSegment turns what a segment's breaker did into an event.
func (p *Pool) noteSegment(m *Proxy, e breaker.Effect, ev Event, events *[]Event) {
	for t := range e.Transitions {
		switch {
		case t.From == breaker.Closed:
			p.segments.resting.Add(1)
		case t.To == breaker.Closed:
			p.segments.resting.Add(-1)
		}
	}
	if e.Moved { // outcomes alone are not worth storing: the window is short
		ev.Proxy, ev.Segment, ev.Effect = m, m.segment.name, e
		*events = append(*events, ev)
	}
}
