package daemon

import (
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/feed"
	"swivel/pool"
)

// Feed tells what happens.
func (d *Daemon) Feed() *feed.Feed { return d.feed }

// tell publishes the changes of state that an event brought.
func (d *Daemon) tell(ev pool.Event) {
	for t := range ev.Effect.Transitions {
		e := about(ev.Proxy, feed.Transition, t.At)
		e.Segment, e.From, e.To, e.Rule, e.Request = ev.Segment, t.From.String(), t.To.String(), t.Rule.String(), ev.Request
		if ev.Signal != pool.NoSignal {
			e.Signal = ev.Signal.String()
		}
		if t.To == breaker.Open {
			e.Until = unix(t.Until)
		}
		d.feed.Publish(e)
	}
}

// tellOutage publishes what the guard against local outages found.
func (d *Daemon) tellOutage(ev pool.Event, now time.Time) {
	reason := map[pool.Outage]string{pool.OutageBegan: "began", pool.OutageEnded: "ended", pool.OutageGivenUp: "given up"}[ev.Outage]
	d.feed.Publish(feed.Event{At: unix(now), Kind: feed.Outage, Reason: reason, Request: ev.Request})
}

// about is an event of a proxy.
func about(m *pool.Proxy, kind string, at time.Time) feed.Event {
	return feed.Event{At: unix(at), Kind: kind, Proxy: string(m.ID), Name: m.Spec.Label()}
}

// unix is a time in unix seconds, to the millisecond.
func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
