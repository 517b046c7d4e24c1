package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/systemd"
)

// Run serves until ctx ends, then lets exchanges finish within the grace
// period, writes the database and closes everything.
func (d *Daemon) Run(ctx context.Context) error {
	background, stop := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	d.tend(background, &workers)
	if d.canary != nil {
		workers.Go(func() { d.canary.Run(ctx) })
	}
	served := make(chan error, 1)
	go func() { served <- d.front.Serve(d.listener) }()
	if d.admin != nil {
		workers.Go(func() { d.admin.Serve(d) })
	}
	if d.cfg.OnExhausted == attempts.Direct {
		d.log.Warn().Msg("on_exhausted is direct: when no proxy can be picked, targets see this machine's own address")
	}
	d.log.Info().Stringer("listen", d.Addr()).Str("admin", d.adminName()).Str("db", d.cfg.DB).Msg("ready")
	systemd.Ready()
	var err error
	select {
	case <-ctx.Done():
		d.stopping.Store(true)
		_ = d.listener.Close()
		<-served
	case err = <-served:
	}
	d.shutdown()
	if d.admin != nil {
		d.admin.Close()
	}
	d.loop.Close() // its last verdicts belong into the database
	stop()
	workers.Wait()
	return errors.Join(err, d.close())
}

// tend begins what goes on beside the clients until ctx ends.
func (d *Daemon) tend(ctx context.Context, workers *sync.WaitGroup) {
	workers.Go(func() { d.registry.Sweep(ctx) })
	workers.Go(func() { d.transports.Sweep(ctx) })
	workers.Go(func() { d.refreshLists(ctx) })
	if w := d.newWatch(); w != nil {
		workers.Go(func() { w.run(ctx) })
	}
	workers.Go(func() { d.saveTargets(ctx) })
	workers.Go(func() { d.savePins(ctx) })
	workers.Go(func() { giveBack(len(d.pool.Proxies())) })
	workers.Go(func() { d.sampleTraffic(ctx) })
	workers.Go(func() { d.pruneDaily(ctx) })
	if d.shown != nil {
		workers.Go(func() { d.watchCertificate(ctx) })
	}
	if d.member != nil {
		workers.Go(func() { d.member.run(ctx) })
	}
}

func (d *Daemon) adminName() string {
	if d.admin == nil {
		return "off"
	}
	return d.AdminAddr().String()
}

// shutdown gives what is under way its grace.
func (d *Daemon) shutdown() {
	systemd.Stopping(time.Duration(d.cfg.Grace) + 2*closeTimeout)
	d.log.Info().Int("connections", d.front.Connections()).Dur("grace_ms", time.Duration(d.cfg.Grace)).Msg("stopping")
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(d.cfg.Grace))
	defer cancel()
	cut := d.front.Shutdown(ctx)
	d.log.Info().Int("cut", cut).Msg("stopped")
}

// close writes and closes what is open; also after half an Open.
func (d *Daemon) close() error {
	var problems []error
	if d.listener != nil {
		_ = d.listener.Close()
	}
	if d.admin != nil {
		d.admin.Close()
	}
	if d.loop != nil {
		d.loop.Close() // its last verdicts belong into the journal
	}
	if d.journal != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := d.journal.Close(ctx); err != nil {
			problems = append(problems, fmt.Errorf("db: the last states could not be written: %w", err))
		}
	}
	if d.member != nil {
		_ = d.member.close()
	}
	if d.store != nil {
		problems = append(problems, d.store.Close())
	}
	return errors.Join(problems...)
}
