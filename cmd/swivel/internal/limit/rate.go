// Package limit bounds what one client may take: exchanges a second, and open
// connections. It remembers a client only as long as that makes a difference.
//
// Everything here is safe for concurrent use.
package limit

import (
	"math"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Client is whose exchanges and connections are counted together: a user, or
// the address of those who did not have to say who they are.
type Client struct {
	User string
	Addr netip.Addr // only without a User
}

// User is the client who has authenticated by the name.
func User(name string) Client { return Client{User: name} }

// Address is the client at an address. With IPv6 it is the network of 64 bits:
// within that, a machine takes as many addresses as it likes.
func Address(a netip.Addr) Client {
	a = a.Unmap()
	if a.Is6() {
		if network, err := a.WithZone("").Prefix(64); err == nil {
			a = network.Addr()
		}
	}
	return Client{Addr: a}
}

// Rate bounds the exchanges of each client by a token bucket. The nil Rate
// bounds nothing.
type Rate struct {
	perSecond rate.Limit
	burst     int
	// refill is how long an empty bucket takes to be full: one that was not
	// touched for so long is like a new one, and need not be kept.
	refill time.Duration

	mu            sync.Mutex
	recent, older map[Client]*rate.Limiter
	turned        time.Time // when recent was begun
	latest        time.Time
}

// NewRate returns a limit of so many exchanges a second, of which those of one
// second, one at least, may come together; nil, which bounds nothing, for 0.
func NewRate(perSecond float64) *Rate {
	if perSecond <= 0 {
		return nil
	}
	burst := math.Max(1, math.Ceil(perSecond))
	return &Rate{
		perSecond: rate.Limit(perSecond), burst: int(burst),
		refill: time.Duration(burst / perSecond * float64(time.Second)),
		recent: map[Client]*rate.Limiter{},
	}
}

// Take takes a token of the client; or says, if it has none, in how long it will
// have one.
func (r *Rate) Take(c Client, now time.Time) (wait time.Duration) {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now = r.inOrder(now)
	if bucket := r.bucket(c, now); !bucket.AllowN(now, 1) {
		return r.missing(bucket, now)
	}
	return 0
}

// Wait says what Take would, and takes nothing.
func (r *Rate) Wait(c Client, now time.Time) (wait time.Duration) {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now = r.inOrder(now)
	return r.missing(r.bucket(c, now), now)
}

// inOrder is now, or the latest time there was. Of many who look at the clock at
// once some are held up before they come here, and a limiter that is told an
// earlier time gives for the time since once more.
func (r *Rate) inOrder(now time.Time) time.Time {
	if now.After(r.latest) {
		r.latest = now
	}
	return r.latest
}

// missing is the time until the bucket holds a token.
func (r *Rate) missing(bucket *rate.Limiter, now time.Time) time.Duration {
	missing := 1 - bucket.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return max(1, time.Duration(missing/float64(r.perSecond)*float64(time.Second)))
}

func (r *Rate) bucket(c Client, now time.Time) *rate.Limiter {
	r.turn(now)
	if b := r.recent[c]; b != nil {
		return b
	}
	b := r.older[c]
	if b == nil {
		b = rate.NewLimiter(r.perSecond, r.burst)
	}
	r.recent[c] = b
	return b
}

// turn forgets the buckets that nobody touched for as long as they need to fill.
func (r *Rate) turn(now time.Time) {
	switch since := now.Sub(r.turned); {
	case since < r.refill:
		return
	case since < 2*r.refill:
		r.older = r.recent
	default:
		r.older = nil
	}
	r.recent, r.turned = map[Client]*rate.Limiter{}, now
}
