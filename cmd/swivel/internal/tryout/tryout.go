// Package tryout tries every proxy of a list against one target, and says which
// are alive, how quick they are, and which protocol they really speak.
//
// Lists say what they like: entries marked as https are plain http more often
// than not, and socks4 is marked as socks5. So a proxy that does not answer to
// the protocol of its line is tried with the others.
//
// A Checker may be used once at a time; its fields are not changed.
//
//	c := tryout.Checker{Target: target, Timeout: 10 * time.Second, Concurrency: 100}
//	c.Run(ctx, specs, func(r tryout.Result) { ... })
package tryout

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"net/netip"
	"sync"
	"time"

	"swivel/pool"
	"swivel/pool/route"
	"swivel/pool/upstream"
)

// Checker tries proxies.
type Checker struct {
	Target      Target
	Timeout     time.Duration  // for one proxy, all that is tried with it
	Concurrency int            // proxies at once
	Roots       *x509.CertPool // to verify an https target by; nil: the system's
}

// Result is what was found out about a proxy.
type Result struct {
	Index   int        // in the list
	Spec    *pool.Spec // as the list has it
	Alive   bool
	Spoken  pool.Scheme   // the protocol that it was alive with
	Latency time.Duration // until the target was reached, or the head of its response was there
	ExitIP  netip.Addr    // as the target tells it; not valid if it does not
	Reason  string        // why it is not alive; holds no credentials
}

// Run tries all proxies and calls done with what it found, one call at a time, in
// the order of the ends. It returns when all have been tried, or ctx ends: what
// is being tried then is left undecided, and done not called for it.
func (c *Checker) Run(ctx context.Context, specs []*pool.Spec, done func(Result)) {
	dialer := upstream.NewDialer(upstream.Timeouts{Dial: c.Timeout / 2, Handshake: c.Timeout})
	next := make(chan int)
	var mu sync.Mutex
	var working sync.WaitGroup
	for range min(max(1, c.Concurrency), len(specs)) {
		working.Go(func() {
			for i := range next {
				r := c.try(ctx, dialer, specs[i])
				if ctx.Err() != nil {
					continue
				}
				r.Index = i
				mu.Lock()
				done(r)
				mu.Unlock()
			}
		})
	}
	for i := range specs {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	working.Wait()
}

// try finds out about one proxy.
func (c *Checker) try(ctx context.Context, d *upstream.Dialer, listed *pool.Spec) Result {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	t := trial{checker: c, dialer: d, spec: listed.For(route.Route{}, rand.Text()), ctx: ctx, found: make(chan finding)}
	first := t.run()
	r := Result{Spec: listed, Spoken: listed.Scheme}
	if first.err != nil {
		r.Reason = reasonOf(first.err)
		return r
	}
	r.Alive, r.Spoken, r.Latency, r.ExitIP = true, first.scheme, first.latency, first.exit
	return r
}
