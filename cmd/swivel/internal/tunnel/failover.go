package tunnel

import (
	"context"
	"net"
	"time"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/pool"
	"swivel/pool/upstream"
)

// First-byte failover: a tunnel whose proxy closes it, or stays silent, before
// the first byte came back can go on through another proxy, and the client does
// not notice, as long as all that the client has sent is a TLS ClientHello. That
// one may be sent twice: nobody acts on it before the server has answered (but
// for early data, RFC 8446 section 8).
//
// A move is a goroutine of its own, which exists only meanwhile. It replaces the
// upstream connection under the two that relay: the one that reads from the old
// connection finds it closed, and goes on with the new one.

// failover is how a tunnel can move. Without a server it cannot.
type failover struct {
	server *Server
	tunnel *pair
	ctx    context.Context // ends with the tunnel
}

// move is a failover under way.
type move struct {
	cancel context.CancelFunc
	done   chan struct{}
	moved  bool // to be read when done is closed
}

// questionWithin is how long the end of an upstream that was not asked for
// anything is kept from the client: what it is about to send is on its way
// mostly, and can go to another proxy.
const questionWithin = time.Second

// keepFrom begins to keep what the client sends. v.mu is held.
func (v *verdict) keepFrom(early []byte) {
	if v.server == nil {
		v.stays.Store(true)
		return
	}
	v.kept.what = partHello
	v.kept.add(early)
	if v.kept.what == notHello {
		v.stays.Store(true)
	}
}

// Write passes on what the client sends, and keeps it as long as the tunnel may
// move. What goes to an upstream that is gone is not lost then: who reads from
// the upstream finds that out as well.
func (v *verdict) Write(b []byte) (int, error) {
	if v.wrote && v.stays.Load() {
		return v.tunnel.current().Write(b)
	}
	v.wrote = true
	to, kept := v.ask(b)
	n, err := to.Write(b)
	if err != nil && kept {
		return len(b), nil
	}
	return n, err
}

// fixedUpstream is the connection that serves, nil if that may change.
func (v *verdict) fixedUpstream() net.Conn {
	if v.stays.Load() {
		return v.tunnel.current()
	}
	return nil
}

// movedFrom says whether a connection is the upstream's no longer. v.mu is held.
func (v *verdict) movedFrom(c net.Conn) bool { return v.tunnel != nil && v.tunnel.current() != c }

// awaitQuestion waits a moment for the client's first bytes when the upstream
// has ended before them. v.mu is held, but not while it waits.
func (v *verdict) awaitQuestion() {
	if v.stays.Load() || v.fixed || !v.asked.IsZero() {
		return
	}
	asking, over := make(chan struct{}), v.ctx.Done()
	v.asking = asking
	v.mu.Unlock()
	patience := time.NewTimer(questionWithin)
	defer patience.Stop()
	select {
	case <-asking:
	case <-patience.C:
	case <-over:
	}
	v.mu.Lock()
	v.asking = nil
}

// wake ends the wait for the client's first bytes. v.mu is held.
func (v *verdict) wake() {
	if v.asking != nil {
		close(v.asking)
		v.asking = nil
	}
}

// awaitMove says whether the tunnel has gone on elsewhere; without a move under
// way it never will, since its client is about to learn that it ends. v.mu is
// held, but not while it waits.
func (v *verdict) awaitMove() (moved bool) {
	m := v.moving
	if m == nil {
		v.stay()
		return false
	}
	v.mu.Unlock()
	<-m.done
	v.mu.Lock()
	return m.moved
}

// mayMove says whether the proxy that failed with the signal may be replaced. A
// silent one only if the target has something to answer to, and not by itself:
// the target may just take its time. v.mu is held.
func (v *verdict) mayMove(s pool.Signal) bool {
	if v.stays.Load() || v.kept.n == 0 || v.ended == clientSide || v.ctx.Err() != nil {
		return false
	}
	return s != pool.TunnelSilent || v.kept.what == wholeHello &&
		(v.lease.Proxy.Spec.Rotating || len(v.server.Loop.Pool.Proxies()) > 1)
}

// startMove begins the search for another proxy. v.mu is held.
func (v *verdict) startMove(failed *pool.Lease) {
	ctx, cancel := context.WithCancel(v.ctx)
	v.moving = &move{cancel: cancel, done: make(chan struct{})}
	go v.run(ctx, v.moving, failed)
}

// run is the goroutine of a move. A proxy that was only silent serves on
// meanwhile: if it answers after all, or nobody else is left, the tunnel stays.
func (v *verdict) run(ctx context.Context, m *move, failed *pool.Lease) {
	defer close(m.done)
	defer m.cancel()
	up, lease, err := attempts.Run(ctx, v.x, v.server.plan(v.x, failed))
	if err != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.moving = nil
		v.stay()
		return
	}
	former, moved := v.hand(ctx, up, lease)
	if !moved {
		_ = up.Close()
		return
	}
	m.moved = true
	_ = former.Close()
}

// hand sends what was kept to another upstream and puts that in the place of
// the former one. An error of writing to it shows when it is read from.
func (v *verdict) hand(ctx context.Context, up *upstream.Conn, lease *pool.Lease) (former net.Conn, moved bool) {
	detach := context.AfterFunc(ctx, func() { _ = up.Close() })
	defer detach()
	v.mu.Lock()
	defer v.mu.Unlock()
	for sent := 0; sent < v.kept.n; {
		piece := v.kept.from(sent)
		v.mu.Unlock()
		_, _ = up.Write(piece)
		sent += len(piece)
		v.mu.Lock()
	}
	v.moving = nil
	if !v.stays.Load() && ctx.Err() == nil {
		former, moved = v.tunnel.replace(up)
	}
	if !moved {
		v.x.Overtaken(lease)
		lease.Release()
		v.stay()
		return nil, false
	}
	v.lease.Release()
	v.lease, v.opened, v.asked = lease, v.x.Age(lease), time.Now()
	v.ended, v.fixed = neither, false
	v.timer.Reset(v.limit)
	return former, true
}
