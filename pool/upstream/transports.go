package upstream

import (
	"context"
	"sync"
	"time"

	"swivel/pool"
)

// Transports gives each proxy its Transport. It is safe for concurrent use.
type Transports struct {
	dialer   *Dialer
	response time.Duration
	room     *idleRoom
	echoes   *echoes
	byID     sync.Map // pool.ID → *Transport
}

// NewTransports returns an empty set. response bounds the wait for a response
// head.
func NewTransports(d *Dialer, response time.Duration) *Transports {
	return &Transports{dialer: d, response: response, echoes: newEchoes()}
}

// LimitIdle bounds the idle connections of all proxies together; else only those
// of each are. It is called before the first request, or never.
func (t *Transports) LimitIdle(most int) { t.room = &idleRoom{most: int64(most)} }

// For returns the proxy's transport. When a reload changed how to reach the
// proxy, that is a new one.
func (t *Transports) For(p *pool.Proxy) *Transport {
	for {
		found, ok := t.byID.Load(p.ID)
		if ok && found.(*Transport).serves(p.Spec) {
			return found.(*Transport)
		}
		made := NewTransport(t.dialer, p.Spec, t.response)
		made.room, made.echoes = t.room, t.echoes
		if !ok {
			if _, taken := t.byID.LoadOrStore(p.ID, made); !taken {
				return made
			}
			continue
		}
		if t.byID.CompareAndSwap(p.ID, found, made) {
			found.(*Transport).Close()
			return made
		}
	}
}

// serves says whether spec asks for the same kind of connections. What belongs
// to a proxy's identity is not compared.
func (t *Transport) serves(spec *pool.Spec) bool {
	own := t.spec
	return own == spec || own.SNI == spec.SNI && own.CA == spec.CA &&
		own.Insecure == spec.Insecure && own.Rotating == spec.Rotating
}

// Keep closes and forgets the transports of proxies that are not in the pool
// any more.
func (t *Transports) Keep(inPool func(pool.ID) bool) {
	t.byID.Range(func(id, transport any) bool {
		if !inPool(id.(pool.ID)) {
			t.byID.Delete(id)
			transport.(*Transport).Close()
		}
		return true
	})
}

// Sweep closes connections that were idle for too long, until ctx ends; then
// it closes all idle ones.
func (t *Transports) Sweep(ctx context.Context) {
	ticker := time.NewTicker(idleTimeout / 2)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			t.Keep(func(pool.ID) bool { return false })
			return
		case now := <-ticker.C:
			t.byID.Range(func(_, transport any) bool {
				transport.(*Transport).CloseIdle(now)
				return true
			})
		}
	}
}
