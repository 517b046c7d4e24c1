package daemon

import (
	"context"
	"time"

	"swivel/pool"
	"swivel/storage"
)

const (
	// pinsWithin is how soon it is on disk where a session is: as soon as a
	// breaker's transition, for both decide who is used after a crash.
	pinsWithin = 50 * time.Millisecond
	// pinsAgain is the pause after a failed write.
	pinsAgain = time.Second
)

// savePins stores where sessions are when that changes, until ctx ends, and then
// once more. A failure is not logged: the journal, which writes to the same
// file, reports it.
func (d *Daemon) savePins(ctx context.Context) {
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			ended = true
		case <-d.pool.SessionsChanged():
			ended = pause(ctx, pinsWithin) // what comes meanwhile goes along
		}
		if !d.savePinsOnce() && !ended {
			ended = pause(ctx, pinsAgain)
		}
	}
}

// pause waits; true when ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return true
	case <-timer.C:
		return false
	}
}

func (d *Daemon) savePinsOnce() bool {
	changed, gone := d.pool.ChangedSessions(time.Now())
	if len(changed)+len(gone) == 0 {
		return true
	}
	pins := make([]storage.Pin, len(changed))
	for i, p := range changed {
		pins[i] = storage.Pin{SessionID: p.Session.String(), ProxyID: string(p.Proxy), LastUse: p.LastUse.Round(0), TTL: p.TTL}
	}
	ids := make([]string, len(gone))
	for i, id := range gone {
		ids[i] = id.String()
	}
	d.tellPins(changed)
	if d.store.SavePins(context.Background(), pins, ids) != nil {
		d.pool.Unsaved(changed, gone)
		return false
	}
	return true
}

// loadPins gives the pool the sessions of an earlier life.
func (d *Daemon) loadPins(ctx context.Context) error {
	stored, err := d.store.LoadPins(ctx, time.Now())
	if err != nil {
		return err
	}
	pins := make([]pool.Pin, 0, len(stored))
	for _, p := range stored {
		if id, ok := pool.ParseSessionID(p.SessionID); ok {
			pins = append(pins, pool.Pin{Session: id, Proxy: pool.ID(p.ProxyID), LastUse: p.LastUse, TTL: p.TTL})
		}
	}
	d.pool.RestoreSessions(pins, time.Now())
	return nil
}
