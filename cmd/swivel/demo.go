package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/daemon"
	"swivel/cmd/swivel/internal/demo"
	"swivel/cmd/swivel/internal/eventlog"
)

// demoCmd serves over toy proxies.
type demoCmd struct {
	settings
}

// Run serves until a signal.
func (c *demoCmd) Run(s streams) error {
	cfg, err := c.load(s, demoDefaults(), nil)
	if err != nil {
		return err
	}
	log, err := eventlog.NewBuffered(s.errOut, cfg.Log.Format, cfg.Log.Level)
	if err != nil {
		return usageError{err}
	}
	defer log.Close()
	logVariables(log, s)
	ctx, cancel := untilSignal()
	defer cancel()
	// There is no list to read again: a terminal that is closed ends the demo.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	return serveDemo(ctx, cfg, log, s)
}

// demoDefaults differ from those of serve where a look of a few minutes does:
// nothing is left behind, the log is for eyes, and a rest is short enough to
// wait for its end.
func demoDefaults() config.Config {
	c := config.Default()
	c.DB = ":memory:"
	c.Log.Format = "console"
	c.Breaker.OpenTimeout = config.Duration(10 * time.Second)
	return c
}

// serveDemo runs toys and a daemon over them until ctx ends.
func serveDemo(ctx context.Context, cfg config.Config, log *eventlog.Log, s streams) (err error) {
	toys, err := demo.Start(ctx, demo.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, toys.Close()) }()
	d, err := daemon.OpenLists(ctx, cfg, daemon.Lists{Specs: toys.Specs()}, log)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprint(s.out, toys.Describe(demo.Serving{
		Listen: d.Addr(), Admin: d.AdminAddr(), Rest: time.Duration(cfg.Breaker.OpenTimeout), Cert: cfg.TLSCert,
	}))
	return d.Run(ctx)
}
