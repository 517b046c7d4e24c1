package tunnel

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"swivel/cmd/swivel/internal/workers"
	"swivel/pool/upstream"
	"swivel/pool/upstream/tcp"
)

// drainLimit is how long a tunnel with one finished direction may stay silent.
// A FIN alone does not say whether the peer still wants to read (RFC 9110
// section 9.3.6 would close at once), so the other direction gets this long.
const drainLimit = time.Minute

// sweepEvery is how often the tunnels are looked at, or more often if the limits
// are that short.
const (
	sweepEvery = 5 * time.Second
	sweepLeast = 10 * time.Millisecond
)

// Registry knows the open tunnels and ends the idle ones. The zero value is
// not usable; see NewRegistry. It is safe for concurrent use.
type Registry struct {
	MaxAge time.Duration // of a tunnel; 0: no limit. Set before the first one

	idle    time.Duration // 0: no limit
	drain   time.Duration // with one direction finished
	workers *workers.Pool

	mu   sync.Mutex
	open map[*pair]struct{}
}

// NewRegistry returns a registry that ends tunnels after idle without data in
// either direction; 0 means never. What goes deep is done by the workers; nil for
// plain goroutines.
func NewRegistry(idle time.Duration, w *workers.Pool) *Registry {
	drain := drainLimit
	if idle > 0 {
		drain = min(drain, idle)
	}
	return &Registry{idle: idle, drain: drain, workers: w, open: map[*pair]struct{}{}}
}

// pair is the two connections of a tunnel.
type pair struct {
	client     net.Conn
	halfClosed atomic.Bool
	nextLook   time.Time // by the sweeper only; zero: not looked at yet
	ends       time.Time // at the latest; zero: no limit

	mu       sync.Mutex
	over     func()   // called once: when the tunnel is closed, or when nobody waits for that any more
	upstream net.Conn // another one after a failover
	early    []byte   // what came on it before it was the upstream
	closed   bool
}

// current is the upstream connection.
func (p *pair) current() net.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.upstream
}

// source is what the client is sent: what has come already, once, and then what
// comes on the connection.
func (p *pair) source() (upstream net.Conn, early []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	early, p.early = p.early, nil
	return p.upstream, early
}

// replace puts another connection in the place of the upstream's and returns the
// former; false if the tunnel is closed.
func (p *pair) replace(by *upstream.Conn) (former net.Conn, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false
	}
	former, p.upstream, p.early = p.upstream, by.Conn, by.Early
	upstream.KeepAlive(by.Conn)
	return former, true
}

func (p *pair) close() {
	p.mu.Lock()
	p.closed = true
	upstream := p.upstream
	p.mu.Unlock()
	p.stopWaiting()
	cut(p.client)
	cut(upstream)
}

// stopWaiting calls over, unless that was done.
func (p *pair) stopWaiting() {
	p.mu.Lock()
	over := p.over
	p.over = nil
	p.mu.Unlock()
	if over != nil {
		over()
	}
}

func (r *Registry) add(p *pair) {
	if r.MaxAge > 0 {
		p.ends = time.Now().Add(r.MaxAge)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[p] = struct{}{}
}

func (r *Registry) remove(p *pair) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, p)
}

// Len returns the number of open tunnels.
func (r *Registry) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open)
}

// Sweep ends idle and old tunnels until ctx ends.
func (r *Registry) Sweep(ctx context.Context) {
	every := min(sweepEvery, r.drain/4)
	if r.MaxAge > 0 {
		every = min(every, r.MaxAge/4)
	}
	ticker := time.NewTicker(max(every, sweepLeast))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			r.sweep(now)
		}
	}
}

func (r *Registry) sweep(now time.Time) {
	r.mu.Lock()
	var due []*pair
	for p := range r.open {
		if p.halfClosed.Load() || !now.Before(p.nextLook) {
			due = append(due, p)
		}
	}
	r.mu.Unlock()
	for _, p := range due { // system calls: not under the lock
		r.look(p, now)
	}
}

// never is when a tunnel without a limit is looked at again.
const never = 100 * 365 * 24 * time.Hour

// look ends the pair when it was silent for too long or is too old, else notes
// when it can be at the earliest. A tunnel that is there at the first look may stay: only now is
// its proxy's connection probed for a peer that has vanished, which would be
// three system calls for each of the many that are gone by then.
func (r *Registry) look(p *pair, now time.Time) {
	if p.nextLook.IsZero() {
		upstream.KeepAlive(p.current())
	}
	if !p.ends.IsZero() && !now.Before(p.ends) {
		p.close()
		return
	}
	limit, idle := r.idle, time.Duration(0)
	switch {
	case p.halfClosed.Load():
		limit = r.drain
	case limit == 0:
		limit = never
	}
	if limit != never {
		idle = p.idle()
	}
	if idle >= limit {
		p.close()
		return
	}
	if p.nextLook = now.Add(limit - idle); !p.ends.IsZero() && p.ends.Before(p.nextLook) {
		p.nextLook = p.ends
	}
}

// idle is the time since either side sent data.
func (p *pair) idle() time.Duration {
	least := time.Duration(1<<63 - 1)
	for _, c := range []net.Conn{p.client, p.current()} {
		socket := tcp.Under(c)
		if socket == nil {
			return 0
		}
		ms, ok := idleFor(socket)
		if !ok { // closed under our hands: its relay is ending anyway
			return 0
		}
		least = min(least, time.Duration(ms)*time.Millisecond)
	}
	return least
}
