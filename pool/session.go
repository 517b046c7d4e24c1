package pool

import (
	"container/list"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"

	"swivel/pool/route"
)

// SessionID stands for a client's session: a keyed hash of its id, of whose it
// is and of what proxies it may have, so that neither memory nor disk holds what
// clients made up. The zero value is no session.
type SessionID [16]byte

// String returns it in hexadecimal.
func (id SessionID) String() string { return hex.EncodeToString(id[:]) }

// ParseSessionID is the reverse of String.
func ParseSessionID(text string) (id SessionID, ok bool) {
	n, err := hex.Decode(id[:], []byte(text))
	return id, err == nil && n == len(id) && len(text) == 2*len(id)
}

// SessionID returns what stands for the session of a client; the zero value if
// the route names none. The same id under other constraints is another session,
// since one proxy cannot meet both.
func (p *Pool) SessionID(client string, r route.Route) (id SessionID) {
	if r.Session == "" {
		return id
	}
	mac := hmac.New(sha256.New, p.options.Salt)
	c := r.Constraints()
	for _, text := range [...]string{"session", client, r.Session, c.Country, c.Region, c.City, c.Provider, c.Tag, c.Protocol, c.Proxy} {
		mac.Write(binary.AppendUvarint(nil, uint64(len(text))))
		mac.Write([]byte(text))
	}
	copy(id[:], mac.Sum(nil))
	return id
}

// hash returns the i-th number of the sequence by which a session looks for its
// proxy (the finalizer of splitmix64: G. L. Steele and others, "Fast splittable
// pseudorandom number generators", 2014).
func (id SessionID) hash(i int) uint64 {
	z := binary.LittleEndian.Uint64(id[:8]) + uint64(i)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Pin says which proxy a session has, in a form that can be stored.
type Pin struct {
	Session SessionID
	Proxy   ID
	LastUse time.Time
	TTL     time.Duration // how long it is kept after its last use
	Learnt  bool          // of those that changed: by another instance; see LearnPin
}

// sessions are the pins in use. They are safe for concurrent use; the zero value
// with max set is empty.
type sessions struct {
	max int

	mu     sync.Mutex
	by     map[SessionID]*list.Element // of *pin
	recent *list.List                  // latest use first
	dirty  map[SessionID]struct{}      // not stored as they are; without a pin: to be removed
	wake   chan struct{}               // gets something when there is something to store
}

type pin struct {
	Pin
	learnt bool      // from another instance, which has told the others too
	stored time.Time // the last use that is known to be stored, or about to be
}

func newSessions(most int) *sessions {
	return &sessions{max: most, by: map[SessionID]*list.Element{}, recent: list.New(),
		dirty: map[SessionID]struct{}{}, wake: make(chan struct{}, 1)}
}

// home returns the proxy that the session has, "" if none, and takes it for a
// use of the session.
func (g *sessions) home(id SessionID, ttl time.Duration, now time.Time) ID {
	g.mu.Lock()
	defer g.mu.Unlock()
	e, known := g.by[id]
	if !known {
		return ""
	}
	one := e.Value.(*pin)
	if now.Sub(one.LastUse) > one.TTL {
		g.forget(e)
		return ""
	}
	one.LastUse = now
	g.recent.MoveToFront(e)
	// A store that is behind by an eighth of the time makes little difference,
	// and a write for every use would be one for every request.
	if one.TTL != ttl || now.Sub(one.stored) > ttl/8 {
		one.TTL = ttl
		g.mark(one)
	}
	return one.Proxy
}

// peek returns the proxy that the session has, without a use of it.
func (g *sessions) peek(id SessionID, now time.Time) ID {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e, known := g.by[id]; known && now.Sub(e.Value.(*pin).LastUse) <= e.Value.(*pin).TTL {
		return e.Value.(*pin).Proxy
	}
	return ""
}

// settle says that the session is served by to now, instead of by from ("": it
// had none). It stays where it is when it has moved elsewhere in between, so
// that of many requests which find its proxy gone one decides.
func (g *sessions) settle(id SessionID, from, to ID, ttl time.Duration, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e, known := g.by[id]
	if !known {
		g.add(Pin{Session: id, Proxy: to, LastUse: now, TTL: ttl})
		g.mark(g.recent.Front().Value.(*pin))
		return
	}
	if one := e.Value.(*pin); one.Proxy == from && from != to {
		one.Proxy = to
		g.mark(one)
	}
}

// add makes a pin the one that was used last. If there are too many, the one
// that was not used for longest goes.
func (g *sessions) add(one Pin) {
	if len(g.by) >= g.max {
		g.forget(g.recent.Back())
	}
	g.by[one.Session] = g.recent.PushFront(&pin{Pin: one, stored: one.LastUse})
}

func (g *sessions) forget(e *list.Element) {
	one := g.recent.Remove(e).(*pin)
	delete(g.by, one.Session)
	g.dirty[one.Session] = struct{}{}
	if len(g.dirty) > 2*g.max {
		g.forgetGone()
	}
	g.ring()
}

// forgetGone no longer wants the sessions to be removed from a store that has
// not done it for long. What is left there is over some time.
func (g *sessions) forgetGone() {
	for id := range g.dirty {
		if _, known := g.by[id]; !known {
			delete(g.dirty, id)
		}
	}
}

func (g *sessions) mark(one *pin) {
	one.stored, one.learnt = one.LastUse, false
	g.dirty[one.Session] = struct{}{}
	g.ring()
}

func (g *sessions) ring() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// SessionsChanged gets something when there are changes for ChangedSessions.
func (p *Pool) SessionsChanged() <-chan struct{} { return p.sessions.wake }

// ChangedSessions returns the pins that changed since it was last asked, and the
// sessions that have none any more. Also the sessions that are over by now are
// forgotten, as far as they were not used for longest.
func (p *Pool) ChangedSessions(now time.Time) (changed []Pin, gone []SessionID) {
	g := p.sessions
	g.mu.Lock()
	defer g.mu.Unlock()
	for e := g.recent.Back(); e != nil && now.Sub(e.Value.(*pin).LastUse) > e.Value.(*pin).TTL; e = g.recent.Back() {
		g.forget(e)
	}
	for id := range g.dirty {
		if e, known := g.by[id]; known {
			one := e.Value.(*pin).Pin
			one.Learnt = e.Value.(*pin).learnt
			changed = append(changed, one)
		} else {
			gone = append(gone, id)
		}
	}
	clear(g.dirty)
	return changed, gone
}

// Unsaved gives changes back that could not be stored.
func (p *Pool) Unsaved(changed []Pin, gone []SessionID) {
	g := p.sessions
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, one := range changed {
		g.dirty[one.Session] = struct{}{}
	}
	for _, id := range gone {
		g.dirty[id] = struct{}{}
	}
	g.ring()
}

// RestoreSessions takes pins of an earlier life, the latest used last. From here
// on their age does not depend on the wall clock, which may be set once a machine
// that has just started is told the time.
func (p *Pool) RestoreSessions(pins []Pin, now time.Time) {
	g := p.sessions
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, one := range pins {
		age := max(0, now.Sub(one.LastUse)) // the clock may have been ahead
		one.LastUse = now.Add(-age)
		if _, known := g.by[one.Session]; !known && now.Sub(one.LastUse) <= one.TTL {
			g.add(one)
		}
	}
}

// Sessions returns how many sessions have a proxy.
func (p *Pool) Sessions() int {
	p.sessions.mu.Lock()
	defer p.sessions.mu.Unlock()
	return len(p.sessions.by)
}
