package daemon

import (
	"context"
	"time"

	"swivel/pool"
	"swivel/storage"
)

// storeTimeout bounds how long an operator waits for the database.
const storeTimeout = 10 * time.Second

// Pause takes proxies out of use, and stores it first: a pause that a restart
// would forget is not what the operator meant.
func (d *Daemon) Pause(members []*pool.Proxy, why pool.Pause) error {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	for _, m := range members {
		one := storage.Pause{ProxyID: string(m.ID), Reason: why.Reason, By: why.By, At: why.At}
		if err := d.store.SetPause(ctx, one); err != nil {
			d.log.Error().Err(err).Str("proxy", string(m.ID)).Msg("a pause could not be stored")
			return err
		}
		d.pool.Pause([]*pool.Proxy{m}, why)
		d.log.Info().Str("proxy", string(m.ID)).Str("proxy_name", m.Spec.Label()).Str("reason", why.Reason).Msg("paused")
	}
	return nil
}

// Resume puts proxies back into use.
func (d *Daemon) Resume(members []*pool.Proxy) error {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	for _, m := range members {
		if _, err := d.store.ClearPause(ctx, string(m.ID)); err != nil {
			d.log.Error().Err(err).Str("proxy", string(m.ID)).Msg("the end of a pause could not be stored")
			return err
		}
		if d.pool.Resume([]*pool.Proxy{m}) > 0 {
			d.log.Info().Str("proxy", string(m.ID)).Str("proxy_name", m.Spec.Label()).Msg("resumed")
		}
	}
	return nil
}
