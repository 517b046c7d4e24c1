// Package fleet shares what breakers learn among the instances that use the same
// proxies, over a [storage.Hub].
//
// An [Instance] is the policy: what is told when, how what others told changes a
// breaker, and whose turn it is to test a proxy. It is pure: time comes in as an
// argument, the breakers are behind [Members], and what it wants to say and hears
// are values. So a simulation can drive a thousand of them. It is not safe for
// concurrent use.
//
// A [Loop] is an Instance with a hub and a clock: one goroutine, which no request
// ever waits for. While the hub is away, each instance works alone.
//
//	i := fleet.New("a1b2", fleet.Settings{Window: time.Minute}, members)
//	i.Note("53aa97ecfdf05c2f") // its breaker has changed
//	if !now.Before(i.Next()) {
//		answer, err := hub.Sync(ctx, i.Ask(now))
//		...
//		items := i.Hear(answer, asked, now)
//	}
package fleet

import (
	"time"

	"swivel/breaker"
)

// Members are the breakers that an instance has, by the ids of their proxies.
type Members interface {
	// Share and Standing are those of the breaker; ok is false if there is none.
	Share(id string, now time.Time) (s breaker.Share, ok bool)
	Standing(id string, now time.Time) (s breaker.Standing, edition uint32, probing, ok bool)
	// Learn and Adopt are those of the breaker too.
	Learn(id string, o breaker.Others, now time.Time)
	Adopt(id string, s breaker.Standing, edition uint32, now time.Time) (adopted uint32, ok bool)
	// All are the ids of all, Len how many they are.
	All() []string
	Len() int
	// DueBy are resting ones whose rest is over then, the soonest first, as many
	// as are asked for at most.
	DueBy(at time.Time, most int) []string
	// Busy says whether there was any traffic since it was last asked.
	Busy() bool
}

// Settings are what depends on the configuration.
type Settings struct {
	Salt string // see storage.Sync
	// Window is the window of the breakers. Outcomes are told by twelfths of it.
	Window time.Duration
	Times  Times
}
