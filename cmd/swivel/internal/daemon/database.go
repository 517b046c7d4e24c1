package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swivel/cmd/swivel/internal/eventlog"
	"swivel/pool"
	"swivel/storage"
	"swivel/storage/sqlite"
)

// storeOpener opens the database at a path.
type storeOpener func(ctx context.Context, path string, log *eventlog.Log) (storage.Store, error)

func openSQLite(ctx context.Context, path string, log *eventlog.Log) (storage.Store, error) {
	store, opened, err := sqlite.Open(ctx, path, time.Now)
	if err != nil {
		return nil, err
	}
	if opened.MovedTo != "" {
		log.Error().AnErr("damage", opened.Damage).Str("moved_to", opened.MovedTo).
			Msg("the database was damaged: it was moved aside, and swivel starts without what it knew")
	}
	return store, nil
}

// openPool opens the database and makes the pool of what it remembers.
func (d *Daemon) openPool(ctx context.Context, lists Lists, open storeOpener) error {
	store, err := open(ctx, d.cfg.DB, d.log)
	if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	d.store = store
	specs, dropped := withoutSelf(lists.Specs, d.self)
	logSelf(d.log, dropped)
	if len(specs) == 0 {
		return &ListError{errOnlySelf}
	}
	salt, err := d.salted(ctx, specs)
	if err != nil {
		return err
	}
	records, skipped, err := store.Load(ctx, storedIDs(idsOf(specs, salt), specs, salt))
	if err != nil {
		return fmt.Errorf("db: %w", err)
	}
	if len(skipped) > 0 {
		d.log.Warn().Int("rows", len(skipped)).AnErr("first", skipped[0]).Msg("rows of the database make no sense and are not used")
	}
	d.stored = restorer(records)
	d.salt = salt
	d.pool = pool.New(specs, pool.Options{
		Breaker: d.cfg.BreakerSettings(), Salt: salt, ProbeRate: d.cfg.Restart.ProbeRate,
		Strategy: d.cfg.Strategy, SessionTTL: time.Duration(d.cfg.Sessions.TTL), MaxSessions: d.cfg.Sessions.Max,
		TargetRest: time.Duration(d.cfg.Targets.Rest), MaxTargetRest: time.Duration(d.cfg.Targets.MaxRest),
		BanRest: time.Duration(d.cfg.Bans.Rest), Segment: d.cfg.SegmentOptions(), Restore: d.remembered,
	}, time.Now())
	d.stored = nil // what it holds of others may be much
	d.log.Info().Int("proxies", len(specs)).Int("skipped", len(lists.Skipped)).Int("merged", lists.Merged).
		Int("own_address", len(dropped)).Int("restored", d.restored(records)).Msg("pool")
	if err := errors.Join(d.loadPauses(ctx), d.loadTargets(ctx), d.loadPins(ctx)); err != nil {
		return fmt.Errorf("db: %w", err)
	}
	return nil
}

func (d *Daemon) restored(records []storage.Record) int {
	n := 0
	for _, r := range records {
		if _, ok := d.pool.Get(pool.ID(r.ProxyID)); ok {
			n++
		}
	}
	return n
}
