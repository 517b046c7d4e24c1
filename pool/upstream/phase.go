package upstream

import (
	"context"
	"net"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/lifetime"
)

// phase bounds what is spoken on a fresh connection, by its own deadline and
// by the end of the caller's context, and can tell afterwards which of the two
// it was: the first is the proxy's doing, the second is not.
type phase struct {
	ctx      context.Context
	conn     net.Conn
	deadline time.Time
	hook     lifetime.Hook // on ctx
}

// beginPhase sets the deadline before it watches ctx, so that an interruption
// can never be overwritten.
func beginPhase(ctx context.Context, conn net.Conn, limit time.Duration) *phase {
	ph := &phase{ctx: ctx, conn: conn, deadline: time.Now().Add(limit)}
	_ = conn.SetDeadline(ph.deadline)
	ph.hook = lifetime.AfterFunc(ctx, ph.interrupt)
	return ph
}

// interrupt makes every pending and later call on the connection fail at once.
func (ph *phase) interrupt() { _ = ph.conn.SetDeadline(time.Unix(1, 0)) }

// end takes the deadline off again. When ctx ended in the very last moment,
// interrupt may run at any time from now on: such a connection is not handed
// out, it would die under its owner.
func (ph *phase) end() error {
	if !ph.hook.Stop() {
		return clientGone(ph.ctx)
	}
	if err := ph.conn.SetDeadline(time.Time{}); err != nil {
		return &Error{Signal: pool.HandshakeClosed, Err: reason(err)}
	}
	return nil
}

// fail turns an I/O error into what it means: late if the phase's time was up,
// otherwise if the connection broke.
func (ph *phase) fail(err error, late, otherwise pool.Signal) *Error {
	switch {
	case !timedOut(err):
		return &Error{Signal: otherwise, Err: reason(err)}
	case gone(ph.ctx, ph.deadline):
		return clientGone(ph.ctx)
	}
	return &Error{Signal: late, Err: reason(err)}
}

// gone says whether it was the caller who ended a phase that might have lasted
// until deadline. The clock decides: once the phase's own time is up, the proxy
// was silent for all of it, whatever else has ended by now. The error of the
// context's cause is of no use here, callers choose it freely.
func gone(ctx context.Context, deadline time.Time) bool {
	return ctx.Err() != nil && time.Now().Before(deadline)
}

func clientGone(ctx context.Context) *Error {
	return &Error{Signal: pool.ClientGone, Err: ctx.Err()}
}

// begun says why an attempt must not begin. A deadline already spent is a
// fault of ours: the proxy never had a chance, nor did the client give up.
func begun(ctx context.Context) error {
	switch ctx.Err() {
	case nil:
		return nil
	case context.DeadlineExceeded:
		return &Error{Signal: pool.LocalFault, Err: context.DeadlineExceeded}
	}
	return clientGone(ctx)
}
