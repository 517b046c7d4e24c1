package daemon

import (
	"context"
	"sync"
	"time"

	"swivel/cmd/swivel/internal/feed"
	"swivel/pool"
	"swivel/storage"
)

// storeTimeout bounds how long an operator waits for the database.
const storeTimeout = 10 * time.Second

// pauses are all that are stored, of proxies that left the list too: one that
// comes back must not be used while a locked database cannot be asked. The
// zero value is empty.
type pauses struct {
	// mu is held from the row to the pool, so that of a pause and a resume at
	// once the same one comes last in both.
	mu sync.Mutex
	by map[pool.ID]pool.Pause
}

// applyTo pauses the members that are to be paused.
func (p *pauses) applyTo(all *pool.Pool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, why := range p.by {
		if m, ok := all.Get(id); ok && m.Paused() == nil {
			all.Pause([]*pool.Proxy{m}, why)
		}
	}
}

// loadPauses puts the proxies aside that an operator had put aside.
func (d *Daemon) loadPauses(ctx context.Context) error {
	stored, err := d.store.Pauses(ctx)
	if err != nil {
		return err
	}
	d.pauses.by = make(map[pool.ID]pool.Pause, len(stored))
	for _, one := range stored {
		d.pauses.by[pool.ID(one.ProxyID)] = pool.Pause{Reason: one.Reason, By: one.By, At: one.At, Drain: one.Drain}
	}
	d.pauses.applyTo(d.pool)
	return nil
}

// Pause takes proxies out of use, and stores it first: a pause that a restart
// would forget is not what the operator meant.
func (d *Daemon) Pause(members []*pool.Proxy, why pool.Pause) error {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	d.pauses.mu.Lock()
	defer d.pauses.mu.Unlock()
	for _, m := range members {
		if err := d.storePause(ctx, m.ID, why); err != nil {
			return err
		}
		d.tellPaused(m, why)
		d.tellPause(m.ID, why)
	}
	return nil
}

// storePause stores a pause and puts it into force; the proxy may be on no list.
// The caller holds pauses.mu.
func (d *Daemon) storePause(ctx context.Context, id pool.ID, why pool.Pause) error {
	one := storage.Pause{ProxyID: string(id), Reason: why.Reason, By: why.By, At: why.At, Drain: why.Drain}
	if err := d.store.SetPause(ctx, one); err != nil {
		d.log.Error().Err(err).Str("proxy", string(id)).Msg("a pause could not be stored")
		return err
	}
	d.pauses.by[id] = why
	if m, ok := d.pool.Get(id); ok {
		d.pool.Pause([]*pool.Proxy{m}, why)
	}
	return nil
}

func (d *Daemon) tellPaused(m *pool.Proxy, why pool.Pause) {
	done := feed.Paused
	if why.Drain {
		done = feed.Drained
	}
	d.log.Info().Str("proxy", string(m.ID)).Str("proxy_name", m.Spec.Label()).Str("reason", why.Reason).Str("by", why.By).Msg(done)
	e := about(m, done, why.At)
	e.Reason, e.By = why.Reason, why.By
	d.feed.Publish(e)
}

// Audit stores what an operator asks for. What cannot be stored is not to be done.
func (d *Daemon) Audit(deed storage.Deed) error {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	err := d.store.Audit(ctx, deed)
	if err != nil {
		d.log.Error().Err(err).Str("action", deed.Action).Msg("the audit log could not be written")
	}
	return err
}

// Deeds are the last things that operators asked for, the latest first.
func (d *Daemon) Deeds(limit int) ([]storage.Deed, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	return d.store.Deeds(ctx, limit)
}

// Resume puts proxies back into use, as somebody wants it.
func (d *Daemon) Resume(members []*pool.Proxy, by string) error {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	d.pauses.mu.Lock()
	defer d.pauses.mu.Unlock()
	for _, m := range members {
		if err := d.endPause(ctx, m.ID, by); err != nil {
			return err
		}
		d.tellResumed(m.ID, time.Now())
	}
	return nil
}

// endPause is the reverse of storePause.
func (d *Daemon) endPause(ctx context.Context, id pool.ID, by string) error {
	if _, err := d.store.ClearPause(ctx, string(id)); err != nil {
		d.log.Error().Err(err).Str("proxy", string(id)).Msg("the end of a pause could not be stored")
		return err
	}
	delete(d.pauses.by, id)
	if m, ok := d.pool.Get(id); ok && d.pool.Resume([]*pool.Proxy{m}) > 0 {
		d.log.Info().Str("proxy", string(m.ID)).Str("proxy_name", m.Spec.Label()).Str("by", by).Msg(feed.Resumed)
		e := about(m, feed.Resumed, time.Now())
		e.By = by
		d.feed.Publish(e)
	}
	return nil
}
