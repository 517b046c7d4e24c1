// Package daemon puts the parts together: it reads the lists, opens the
// database, restores the breakers, listens, and takes everything down again in
// the right order.
//
//	d, err := daemon.Open(ctx, cfg, log)
//	...
//	err = d.Run(ctx) // until ctx ends, then gracefully
package daemon

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/admin"
	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/auth"
	"swivel/cmd/swivel/internal/canary"
	"swivel/cmd/swivel/internal/certificate"
	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/feed"
	"swivel/cmd/swivel/internal/front"
	"swivel/cmd/swivel/internal/metrics"
	"swivel/cmd/swivel/internal/systemd"
	"swivel/cmd/swivel/internal/targets"
	"swivel/cmd/swivel/internal/traffic"
	"swivel/cmd/swivel/internal/tunnel"
	"swivel/pool"
	"swivel/pool/upstream"
	"swivel/storage"
)

// closeTimeout bounds the last write to the database.
const closeTimeout = 10 * time.Second

// Daemon is a running swivel. Its methods are safe for concurrent use.
type Daemon struct {
	cfg config.Config // of the keys in live: guarded by reloadMu
	log *eventlog.Log

	store      storage.Store
	salt       []byte
	journal    *storage.Journal
	pool       *pool.Pool
	transports *upstream.Transports
	registry   *tunnel.Registry
	loop       *attempts.Loop
	guard      *auth.Guard
	shown      *certificate.Shown // nil: no TLS is spoken with clients
	front      *front.Front
	metrics    *metrics.Metrics
	traffic    *traffic.Recorder
	feed       *feed.Feed
	canary     *canary.Canary // nil: none
	started    time.Time
	listener   *net.TCPListener
	admin      *admin.Server
	stopping   atomic.Bool
	self       front.Self
	rules      *targets.Rules // what clients may have

	guesses  guesses
	ballast  []byte
	pauses   pauses
	member   *member    // of a fleet; nil: there is none
	reloadMu sync.Mutex // serialises Reload
	sources  *Sources   // guarded by reloadMu
	seen     seenFiles  // but the lists; guarded by reloadMu
	// filesNamed tells a watch that there are other files now.
	filesNamed chan struct{}
	readConfig func() (config.Config, error) // nil: not read again
	// stored answers what the database knows of those that join the pool; nil
	// but while it is filled.
	stored func(pool.ID) (breaker.Snapshot, bool)
}

// ListError is a problem with the proxy lists: the user's to mend before
// anything can start.
type ListError struct{ Err error }

func (e *ListError) Error() string { return e.Err.Error() }

// Unwrap gives the joined problems.
func (e *ListError) Unwrap() error { return e.Err }

// Open reads the lists, opens the database and listens, on the sockets that are
// there already and on its own. Nothing is served yet. An error about the lists is
// a *ListError.
func Open(ctx context.Context, cfg config.Config, sockets systemd.Sockets, log *eventlog.Log) (*Daemon, error) {
	sources := sourcesOf(cfg.DB)
	lists, err := sources.Read(ctx, cfg.Proxies, cfg.BreakerSettings())
	logLists(log, lists)
	if err != nil {
		return nil, &ListError{err}
	}
	d, err := openWith(ctx, cfg, lists, sockets, log, openSQLite)
	if err == nil {
		sources.tidy(cfg.Proxies)
		sources.beside = true
		d.sources = sources
	}
	return d, err
}

// OpenLists is Open over proxies that come from elsewhere than cfg's files.
func OpenLists(ctx context.Context, cfg config.Config, lists Lists, log *eventlog.Log) (*Daemon, error) {
	return openWith(ctx, cfg, lists, systemd.Sockets{}, log, openSQLite)
}

// openWith is OpenLists with a store of the caller's choice, which becomes the
// daemon's to close.
func openWith(ctx context.Context, cfg config.Config, lists Lists, sockets systemd.Sockets, log *eventlog.Log, open storeOpener) (*Daemon, error) {
	d := &Daemon{guesses: guesses{tell: rate.Sometimes{Interval: guessesEvery}}, cfg: cfg, log: log, ballast: ballast(), sources: &Sources{beside: true}, filesNamed: make(chan struct{}, 1)}
	if err := d.readFiles(); err != nil {
		return nil, err
	}
	if err := d.listen(ctx, sockets); err != nil {
		return nil, errors.Join(err, d.close())
	}
	if err := d.openPool(ctx, lists, open); err != nil {
		return nil, errors.Join(err, d.close())
	}
	d.build()
	return d, nil
}

// Addr is where clients connect.
func (d *Daemon) Addr() netip.AddrPort { return d.self[0] }

// AdminAddr is where the admin API listens; not valid when it is off.
func (d *Daemon) AdminAddr() netip.AddrPort {
	if len(d.self) < 2 {
		return netip.AddrPort{}
	}
	return d.self[1]
}

// Stopping says that no new clients are taken.
func (d *Daemon) Stopping() bool { return d.stopping.Load() }

// Metrics answers a scrape.
func (d *Daemon) Metrics() http.Handler { return d.metrics }

// Pool is the daemon's pool.
func (d *Daemon) Pool() *pool.Pool { return d.pool }
