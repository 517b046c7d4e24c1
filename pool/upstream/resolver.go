package upstream

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// How long the resolver relies on what it knows.
const (
	nameFresh   = 60 * time.Second // an answer is used without asking again
	nameRetry   = 5 * time.Second  // after a failed lookup nobody asks again
	namePatient = time.Second      // a lookup is waited for while an old answer is at hand
	lookupLimit = 15 * time.Second // a lookup may take, whoever still waits for it
	maxNames    = 10_000           // names remembered
)

// resolver finds the addresses of proxies. It asks once for everybody who
// wants the same name, remembers the answer, and keeps the last good one for
// the time when no name server answers: a pool must not die of its resolver.
// It is safe for concurrent use.
type resolver struct {
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	now    func() time.Time

	mu    sync.Mutex
	names map[string]*name
}

// name is what the resolver knows of one name, guarded by its mutex.
type name struct {
	addrs  []netip.Addr // the last good answer, nil if there was none
	err    error        // why the last lookup failed
	until  time.Time    // no new lookup before
	flight *flight      // the lookup under way, nil if there is none
}

// flight is a lookup under way. Its results may be read once done is closed.
type flight struct {
	began time.Time
	done  chan struct{}
	addrs []netip.Addr
	err   error
}

func newResolver(lookup func(context.Context, string) ([]netip.Addr, error), now func() time.Time) *resolver {
	return &resolver{lookup: lookup, now: now, names: make(map[string]*name)}
}

func lookupHost(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// resolve returns the addresses of host, which nobody may change. It waits for
// a lookup until deadline or the end of ctx; the lookup itself goes on, so that
// the next attempt finds its answer.
func (r *resolver) resolve(ctx context.Context, host string, deadline time.Time) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip.Unmap()}, nil
	}
	addrs, f, err := r.ask(host)
	if f == nil {
		return addrs, err
	}
	wait := time.Until(deadline)
	if addrs != nil {
		wait = min(wait, namePatient-r.now().Sub(f.began))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-f.done:
		return f.addrs, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		if addrs != nil {
			return addrs, nil
		}
		return nil, os.ErrDeadlineExceeded
	}
}

// ask returns what is known about host, and the lookup to wait for if that is
// not fresh.
func (r *resolver) ask(host string) ([]netip.Addr, *flight, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.names[host]
	if n == nil {
		r.makeRoom()
		n = &name{}
		r.names[host] = n
	}
	now := r.now()
	switch {
	case n.flight != nil:
		return n.addrs, n.flight, nil
	case now.Before(n.until):
		addrs, err := n.answer()
		return addrs, nil, err
	}
	n.flight = &flight{began: now, done: make(chan struct{})}
	go r.fly(host, n.flight)
	return n.addrs, n.flight, nil
}

// fly looks host up; lookupLimit ends it.
func (r *resolver) fly(host string, f *flight) {
	ctx, cancel := context.WithTimeout(context.Background(), lookupLimit)
	defer cancel()
	addrs, err := r.lookup(ctx, host)
	if err == nil && len(addrs) == 0 {
		err = &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
	}
	f.addrs, f.err = r.learn(host, addrs, err)
	close(f.done)
}

// learn records the end of a lookup and returns what holds from now on.
func (r *resolver) learn(host string, addrs []netip.Addr, err error) ([]netip.Addr, error) {
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.names[host] // still there: makeRoom spares a name in flight
	n.flight = nil
	n.err = err
	n.until = r.now().Add(nameRetry)
	switch {
	case err == nil:
		n.addrs = addrs
		n.until = r.now().Add(nameFresh)
	case notFound(err):
		// The name server did answer: the name is given up, and whoever gets
		// its old address next must not be sent our credentials.
		n.addrs = nil
	}
	return n.answer()
}

// answer prefers an old address to a new error.
func (n *name) answer() ([]netip.Addr, error) {
	if n.addrs != nil {
		return n.addrs, nil
	}
	return nil, n.err
}

// makeRoom forgets some name when there are too many. Which one hardly
// matters: to forget costs a lookup.
func (r *resolver) makeRoom() {
	if len(r.names) < maxNames {
		return
	}
	for host, n := range r.names {
		if n.flight == nil {
			delete(r.names, host)
			return
		}
	}
}

func notFound(err error) bool {
	dns, ok := errors.AsType[*net.DNSError](err)
	return ok && dns.IsNotFound
}
