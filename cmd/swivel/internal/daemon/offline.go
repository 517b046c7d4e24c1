package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"swivel/cmd/swivel/internal/auth"
	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/front"
	"swivel/cmd/swivel/internal/targets"
	"swivel/pool/route"
)

// Offline makes the pool as a daemon would find it at its start, and serves
// nobody. A database that does not exist is not made. Close is to be called.
func Offline(ctx context.Context, cfg config.Config, log *eventlog.Log) (*Daemon, error) {
	lists, err := LookAtLists(cfg.Proxies, cfg.BreakerSettings(), cfg.DB)
	if err != nil {
		return nil, &ListError{err}
	}
	users, err := auth.Read(cfg.Users, cfg.UsersFile)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(cfg.DB); errors.Is(err, fs.ErrNotExist) {
		cfg.DB = ":memory:"
	}
	cfg.Fleet = "" // who only looks is no instance
	rules, err := targets.Parse(cfg.Targets.Allow, cfg.Targets.Deny)
	if err != nil {
		return nil, err
	}
	d := &Daemon{cfg: cfg, log: log, guard: auth.NewGuard(users), rules: rules, self: selfOf(cfg)}
	if err := d.openPool(ctx, lists, openSQLite); err != nil {
		return nil, errors.Join(fmt.Errorf("without a daemon (leave --proxies off to ask one that runs): %w", err), d.close())
	}
	return d, nil
}

// Refused says why clients do not get a target, whatever the pool is like.
func (d *Daemon) Refused(target string) string {
	if refusal := front.Refusal(d.self, d.rules, target); refusal != nil {
		return fmt.Sprintf("%d %s", refusal.Status, refusal.Code)
	}
	return ""
}

// Close ends what Offline began.
func (d *Daemon) Close() error { return d.close() }

// ParseUser reads a proxy user name as the listener for clients does.
func (d *Daemon) ParseUser(user string) (name string, r route.Route, err error) {
	if d.guard.Required() {
		return route.Parse(user, d.guard.Users())
	}
	return route.Parse(user, nil)
}
