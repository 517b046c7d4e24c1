package daemon

import (
	"context"
	"time"

	"swivel/pool"
	"swivel/storage"
)

// saveTargetsEvery is how soon bans and resting targets are on disk.
const saveTargetsEvery = time.Second

// saveTargets stores bans and resting targets when they have changed, until ctx
// ends, and then once more. A failure is not logged: the journal, which writes
// to the same file, reports it.
func (d *Daemon) saveTargets(ctx context.Context) {
	ticker := time.NewTicker(saveTargetsEvery)
	defer ticker.Stop()
	var saved uint64
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			ended = true
		case <-ticker.C:
		}
		if n := d.pool.Troubles(); n != saved {
			bans, rests := d.pool.Targets(time.Now())
			d.tellTargets(bans, rests, time.Now())
			if d.store.SaveTargets(context.Background(), toBans(bans), toRests(rests)) == nil {
				saved = n
			}
		}
	}
}

// loadTargets gives the pool the bans and resting targets of an earlier life.
func (d *Daemon) loadTargets(ctx context.Context) error {
	bans, rests, err := d.store.LoadTargets(ctx, time.Now())
	if err != nil {
		return err
	}
	var b []pool.Ban
	for _, one := range bans {
		b = append(b, pool.Ban{Proxy: pool.ID(one.ProxyID), Target: one.Target, Until: one.Until})
	}
	var r []pool.TargetRest
	for _, one := range rests {
		r = append(r, pool.TargetRest(one))
	}
	d.pool.RestoreTargets(b, r, time.Now())
	return nil
}

func toBans(bans []pool.Ban) (out []storage.Ban) {
	for _, b := range bans {
		out = append(out, storage.Ban{ProxyID: string(b.Proxy), Target: b.Target, Until: b.Until})
	}
	return out
}

func toRests(rests []pool.TargetRest) (out []storage.TargetRest) {
	for _, r := range rests {
		out = append(out, storage.TargetRest(r))
	}
	return out
}
