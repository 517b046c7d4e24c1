// Package feed tells whoever listens what happens to the pool, as it happens.
//
// Who tells never waits for who listens: a listener that does not keep up is
// dropped, and may come back and ask for what it has missed, as far as that is
// remembered.
//
//	f := feed.New(time.Now())
//	f.Publish(feed.Event{Kind: "reload", ...})
//	missed, listener, ok := f.Listen(lastSeen)
//	defer f.Leave(listener)
//	for event := range listener.Events() { ... } // ends when it is dropped
package feed

import (
	"sync"
	"time"
)

// Event is one thing that happened, in JSON too. Fields that do not belong to
// its kind are left out.
type Event struct {
	ID   int64   `json:"id"` // grows; also over restarts, as long as the clock does
	At   float64 `json:"at"` // unix seconds
	Kind string  `json:"kind"`

	Proxy   string `json:"proxy,omitempty"` // id
	Name    string `json:"name,omitempty"`
	Segment string `json:"segment,omitempty"` // it is about the whole of it, not about the proxy

	From    string  `json:"from,omitempty"`
	To      string  `json:"to,omitempty"`
	Rule    string  `json:"rule,omitempty"`
	Signal  string  `json:"signal,omitempty"`
	Request string  `json:"request,omitempty"`
	Until   float64 `json:"until,omitempty"` // unix seconds: when the rest is over

	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
}

// The kinds.
const (
	Transition = "transition" // of a breaker
	Paused     = "paused"
	Drained    = "drained"
	Resumed    = "resumed"
	Reload     = "reload"
	Outage     = "outage" // the guard against local outages changed its mind; Reason says how
)

const (
	remembered   = 200 // events that a listener can still ask for
	backlog      = 256 // events that a listener may be behind
	maxListeners = 32
)

// Feed has one source and some listeners. It is safe for concurrent use; on a
// nil Feed Publish does nothing. Create it with New.
type Feed struct {
	mu        sync.Mutex
	last      int64
	recent    []Event // the earliest first; the last of them are the ones remembered
	listeners map[*Listener]struct{}
}

// Listener gets events until it is dropped or leaves.
type Listener struct{ events chan Event }

// Events are those from now on. The channel is closed when they came too fast.
func (l *Listener) Events() <-chan Event { return l.events }

// New returns a feed without listeners. now is what its ids begin with.
func New(now time.Time) *Feed {
	return &Feed{last: now.UnixMicro(), listeners: map[*Listener]struct{}{}}
}

// Publish tells everybody, and gives the event its id.
func (f *Feed) Publish(e Event) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	e.ID = f.last
	if len(f.recent) == 2*remembered {
		f.recent = append(f.recent[:0], f.recent[remembered:]...)
	}
	f.recent = append(f.recent, e)
	for l := range f.listeners {
		select {
		case l.events <- e:
		default:
			f.drop(l)
		}
	}
}

// Listen returns what is remembered of the events after the one with the id, and
// a listener for those that come; ok is false if there are too many already. An
// id that this feed has not reached is of an earlier life: then all is new.
func (f *Feed) Listen(after int64) (missed []Event, l *Listener, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.listeners) >= maxListeners {
		return nil, nil, false
	}
	for _, e := range f.recent[max(0, len(f.recent)-remembered):] {
		if e.ID > after || after > f.last {
			missed = append(missed, e)
		}
	}
	l = &Listener{events: make(chan Event, backlog)}
	f.listeners[l] = struct{}{}
	return missed, l, true
}

// Leave ends a listener, whether or not it was dropped.
func (f *Feed) Leave(l *Listener) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(l)
}

// drop ends a listener once. mu is held.
func (f *Feed) drop(l *Listener) {
	if _, in := f.listeners[l]; in {
		delete(f.listeners, l)
		close(l.events)
	}
}
