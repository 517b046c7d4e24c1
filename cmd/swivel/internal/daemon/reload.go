package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/admin"
	"swivel/cmd/swivel/internal/feed"
	"swivel/pool"
	"swivel/pool/spelling"
)

// Reload reads the lists, the file of users, the certificate and the configuration
// again. With any list unreadable or empty the old pool stays, and so does each of
// the others with which something is wrong; the error says so. A proxy that is back
// on a list goes on where it was.
func (d *Daemon) Reload() (admin.Reloaded, error) { return d.reload(context.Background()) }

// refreshLists reloads now and then if some of the lists have to be fetched, until
// ctx ends.
func (d *Daemon) refreshLists(ctx context.Context) {
	period := time.Duration(d.cfg.ProxiesRefresh)
	if period == 0 {
		return
	}
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if slices.ContainsFunc(d.lists(), isURL) {
				d.refresh(ctx)
			}
		}
	}
}

// refresh reads the lists again, and nothing else.
func (d *Daemon) refresh(ctx context.Context) {
	d.reloadMu.Lock()
	defer d.reloadMu.Unlock()
	lists, err := d.sources.Read(ctx, d.cfg.Proxies, d.cfg.BreakerSettings())
	if ctx.Err() == nil { // else it is the end: nothing that failed now says anything
		_, _ = d.take(lists, err) // the log says it
	}
}

func (d *Daemon) reload(ctx context.Context) (admin.Reloaded, error) {
	d.reloadMu.Lock()
	defer d.reloadMu.Unlock()
	next, restart, configErr := d.nextConfig()
	_ = d.log.SetLevel(next.Log.Level) // which was valid
	d.cfg.Log.Level = next.Log.Level
	usersErr := d.reloadUsers(next)
	certErr := d.reloadCertificate()
	lists, err := d.sources.Read(ctx, next.Proxies, d.cfg.BreakerSettings())
	done, err := d.take(lists, err)
	if err == nil {
		d.nameLists(next.Proxies)
		d.sources.tidy(next.Proxies)
	}
	done.RestartNeeded = restart
	return done, errors.Join(configErr, usersErr, certErr, err)
}

// reloadChanged reads those files again that are not as they were read. URLs are
// not asked for that: whoever saves a file ten times does not want to ask a vendor
// ten times.
func (d *Daemon) reloadChanged(ctx context.Context, files map[string]fs.FileInfo) {
	d.reloadMu.Lock()
	defer d.reloadMu.Unlock()
	if d.seen.changed(files, d.cfg.UsersFile) {
		_ = d.reloadUsers(d.cfg) // the log says it, here and below
	}
	if d.seen.changed(files, d.cfg.TLSCert, d.cfg.TLSKey) {
		_ = d.reloadCertificate()
	}
	if !d.sources.seen.changed(files, d.cfg.Proxies...) {
		return
	}
	d.sources.seen.note(files)
	lists, err := d.sources.readFiles(ctx, d.cfg.Proxies, d.cfg.BreakerSettings())
	if ctx.Err() == nil {
		_, _ = d.take(lists, err)
	}
}

// take makes the pool what the lists say, unless that is wrong or looks so.
func (d *Daemon) take(lists Lists, err error) (admin.Reloaded, error) {
	logLists(d.log, lists)
	specs, dropped := withoutSelf(lists.Specs, d.self)
	logSelf(d.log, dropped)
	if err == nil && len(specs) == 0 {
		err = errors.New("no usable proxy")
	}
	if err == nil && lists.Unfinished != "" && 2*len(specs) < len(d.pool.Proxies()) {
		err = fmt.Errorf("%s looks half written: its last line has no end, and more than half of the proxies are gone", lists.Unfinished)
	}
	d.metrics.Reload(err == nil, time.Now())
	if err != nil {
		d.log.Error().Err(err).Msg("reload refused: the old pool stays")
		d.feed.Publish(feed.Event{At: unix(time.Now()), Kind: feed.Reload, Reason: "refused: the old pool stays, and the log says why"})
		return admin.Reloaded{}, fmt.Errorf("%w: the old pool stays", err)
	}
	change := d.replace(specs)
	d.transports.Keep(func(id pool.ID) bool { _, ok := d.pool.Get(id); return ok })
	d.log.Info().Int("added", change.Added).Int("kept", change.Kept).Int("removed", change.Removed).
		Int("skipped", len(lists.Skipped)).Int("merged", lists.Merged).Int("own_address", len(dropped)).Msg("reloaded")
	d.feed.Publish(feed.Event{At: unix(time.Now()), Kind: feed.Reload,
		Reason: fmt.Sprintf("%d added, %d kept, %d removed, %s skipped", change.Added, change.Kept, change.Removed, spelling.Counted(len(lists.Skipped), "line", "lines"))})
	done := admin.Reloaded{
		Added: change.Added, Kept: change.Kept, Removed: change.Removed, Skipped: len(lists.Skipped),
		Merged: lists.Merged, OwnAddress: len(dropped), Reasons: lists.Reasons(),
	}
	for _, stale := range lists.Stale {
		done.Stale = append(done.Stale, stale.Error())
	}
	return done, nil
}

// replace changes the members of the pool. The rows of the database are read
// only when somebody joins, and not kept.
func (d *Daemon) replace(specs []*pool.Spec) pool.Change {
	rows := sync.OnceValue(func() func(pool.ID) (breaker.Snapshot, bool) { return d.rows(specs) })
	d.stored = func(id pool.ID) (breaker.Snapshot, bool) { return rows()(id) }
	defer func() { d.stored = nil }()
	change := d.pool.Replace(specs, time.Now())
	d.pauses.applyTo(d.pool)
	if d.member != nil && change.Added > 0 {
		d.member.loop.Reread()
	}
	return change
}

// remembered is what is stored of one that joins the pool.
func (d *Daemon) remembered(id pool.ID) (breaker.Snapshot, bool) {
	if d.stored == nil {
		return breaker.Snapshot{}, false
	}
	return d.stored(id)
}

// rows is what the database has now of those that join. Of a proxy that left
// the list and came back that is more than it had at the start.
func (d *Daemon) rows(specs []*pool.Spec) func(pool.ID) (breaker.Snapshot, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	_ = d.journal.Flush(ctx) // what cannot be written is an incident, which the journal reports
	records, _, err := d.store.Load(ctx, storedIDs(d.pool.Newcomers(specs), specs, d.salt))
	if err != nil {
		d.log.Error().Err(err).Msg("what is known of the proxies that came back could not be read")
	}
	return restorer(records)
}
