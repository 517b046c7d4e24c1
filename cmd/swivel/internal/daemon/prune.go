package daemon

import (
	"context"
	"time"

	"swivel/pool"
)

const (
	// orphanAge is how long the state of a proxy that left the lists is kept.
	orphanAge = 30 * 24 * time.Hour
	// pruneEvery is how often a daemon that runs for months looks again.
	pruneEvery = 24 * time.Hour
)

// pruneDaily forgets what left the lists long ago, now and every day, until ctx
// ends. It runs beside everything else: a million of them take seconds, for
// which no start should wait.
func (d *Daemon) pruneDaily(ctx context.Context) {
	ticker := time.NewTicker(pruneEvery)
	defer ticker.Stop()
	for {
		d.prune(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (d *Daemon) prune(ctx context.Context) {
	segments := map[pool.ID]bool{}
	for _, s := range d.pool.Segments() {
		segments[d.pool.SegmentID(s.Name)] = true
	}
	removed, err := d.store.Prune(ctx, time.Now().Add(-orphanAge), func(id string) bool {
		_, ok := d.pool.Get(pool.ID(id))
		return ok || segments[pool.ID(id)]
	})
	if removed > 0 {
		d.log.Info().Int("rows", removed).Msg("forgot proxies that left the lists long ago")
	}
	if err != nil && ctx.Err() == nil { // else a stop came between
		d.log.Warn().Err(err).Msg("proxies that left the lists long ago could not all be forgotten; tried again tomorrow")
	}
}
