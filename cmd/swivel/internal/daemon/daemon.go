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
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
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
	"swivel/cmd/swivel/internal/forward"
	"swivel/cmd/swivel/internal/front"
	"swivel/cmd/swivel/internal/limit"
	"swivel/cmd/swivel/internal/metrics"
	"swivel/cmd/swivel/internal/systemd"
	"swivel/cmd/swivel/internal/targets"
	"swivel/cmd/swivel/internal/traffic"
	"swivel/cmd/swivel/internal/tryout"
	"swivel/cmd/swivel/internal/tunnel"
	"swivel/pool"
	"swivel/pool/upstream"
	"swivel/storage"
	"swivel/storage/sqlite"
)

// headerTimeout and keepAlive bound a client connection: the time for a request
// head, and the time between two requests (longer than the 60 seconds after
// which common clients drop theirs, so that it is they who close).
const (
	headerTimeout = 30 * time.Second
	keepAlive     = 90 * time.Second
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

// listen opens the sockets first: a port in use is told before the database is
// touched.
func (d *Daemon) listen(ctx context.Context, sockets systemd.Sockets) (err error) {
	if d.listener = sockets.Listen; d.listener == nil {
		if d.listener, err = front.Listen(ctx, d.cfg.Listen); err != nil {
			return fmt.Errorf("listen: cannot listen on %s: %w", d.cfg.Listen, socketReason(err))
		}
	}
	d.self = front.Self{d.listener.Addr().(*net.TCPAddr).AddrPort()}
	if d.cfg.Admin == "off" {
		return nil
	}
	token, err := admin.ReadToken(d.cfg.AdminToken, d.cfg.AdminTokenFile)
	if err != nil {
		return err
	}
	if sockets.Admin != nil {
		d.admin = admin.New(sockets.Admin, token)
	} else if d.admin, err = admin.Listen(ctx, d.cfg.Admin, token); err != nil {
		return fmt.Errorf("admin: cannot listen on %s: %w", d.cfg.Admin, socketReason(err))
	}
	d.self = append(d.self, d.admin.Addr().(*net.TCPAddr).AddrPort())
	return nil
}

// socketReason is the reason alone: the address is named already.
func socketReason(err error) error {
	var number syscall.Errno
	var op *net.OpError
	switch {
	case errors.As(err, &number):
		return number
	case errors.As(err, &op):
		return op.Err
	}
	return err
}

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
		return &ListError{errors.New("proxies: the only proxies listed are swivel itself")}
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

func (d *Daemon) build() {
	a := d.cfg.Attempts
	d.journal = storage.NewJournal(d.store, storage.Options{
		OnIncident: func(err error) {
			d.log.Error().Err(err).Msg("cannot write the database: states are kept in memory until it works again")
		},
		OnRecovered: func(n int) { d.log.Info().Int("failed_writes", n).Msg("the database can be written again") },
	})
	d.rules, _ = targets.Parse(d.cfg.Targets.Allow, d.cfg.Targets.Deny) // valid: see config
	dialer := upstream.NewDialer(upstream.Timeouts{Dial: time.Duration(a.DialTimeout), Handshake: time.Duration(a.HandshakeTimeout)})
	dialer.Shun = func(at netip.AddrPort) bool { return d.self.Holds(at.String()) || d.rules.Denies(at) }
	loop := attempts.New(d.pool, attempts.Settings{
		Attempts: a.Attempts, ExchangeTimeout: time.Duration(a.ExchangeTimeout),
		FirstByte: time.Duration(a.FirstByteTimeout), Response: time.Duration(a.ResponseTimeout),
		ProbePatience: time.Duration(d.cfg.Breaker.ProbePatience), OnExhausted: d.cfg.OnExhausted,
		HedgeOff: a.HedgeAfter.Off, HedgeAfter: time.Duration(a.HedgeAfter.Fixed), RetryBudget: a.RetryBudget,
	}, d.sink)
	d.loop = loop
	if at, err := tryout.ParseTarget(d.cfg.Canary.URL); err == nil { // else there is none: see config
		d.canary = canary.New(loop, dialer, at, d.log)
	}
	if d.member != nil {
		d.member.begin()
	}
	d.registry = tunnel.NewRegistry(time.Duration(d.cfg.Limits.TunnelIdle), &loop.Workers)
	d.registry.MaxAge = time.Duration(d.cfg.Limits.TunnelMaxAge)
	d.transports = upstream.NewTransports(dialer, time.Duration(a.ResponseTimeout))
	d.transports.LimitIdle(idleConnections())
	d.metrics = metrics.New(metrics.Sources{
		Pool: d.pool, Journal: d.journal.Stats, RetryBudget: loop.RetryBudget,
		Connections: func() int { return d.front.Connections() },
		Fleet:       d.Fleet,
	})
	d.started = time.Now()
	d.traffic = traffic.New(d.started)
	d.feed = feed.New(d.started)
	d.front = &front.Front{
		Settings: front.Settings{
			Connections: d.cfg.Limits.Connections, Files: maxFiles(), HeaderBytes: d.cfg.Limits.HeaderBytes,
			HeaderTimeout: headerTimeout, KeepAlive: keepAlive,
		},
		Loop:   loop,
		Tunnel: &tunnel.Server{Loop: loop, Dialer: dialer, Registry: d.registry},
		Forward: forward.New(d.transports, d.registry, forward.Settings{
			Response: time.Duration(a.ResponseTimeout), Bans: d.cfg.Bans.Statuses, Retries: a.RetryStatuses,
		}),
		Log:  d.log,
		Self: d.self, Targets: d.rules,

		Metrics: d.metrics,
		Traffic: d.traffic,

		Guard:     d.guard,
		Rate:      limit.NewRate(d.cfg.Limits.ClientRate),
		PerClient: limit.NewConnections(d.cfg.Limits.ClientConnections),
	}
	if d.shown != nil {
		d.front.TLS = d.shown.Config()
	}
}

// idleConnections is how many connections to proxies may be kept for later: an
// eighth of the descriptors, and no more than helps.
func idleConnections() int {
	const most = 8192
	if files := maxFiles(); files > 0 {
		return min(most, files/8)
	}
	return most
}

// maxFiles is how many descriptors the process may have; 0 if that is not known.
func maxFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<30))
}

// sink stores and logs what changed. Transitions are urgent.
func (d *Daemon) sink(events []pool.Event) {
	for _, ev := range events {
		if ev.Outage != pool.NoOutage {
			d.log.Outage(ev)
			d.tellOutage(ev, time.Now())
			continue
		}
		d.journal.Put(d.record(ev, time.Now()), ev.Effect.Moved)
		d.log.Transitions(ev)
		d.metrics.Event(ev)
		d.tell(ev)
		d.noted(ev)
	}
}

// record is the state behind an event: of a proxy's breaker, or its segment's.
func (d *Daemon) record(ev pool.Event, now time.Time) storage.Record {
	if ev.Segment != "" {
		return toRecord(d.pool.SegmentID(ev.Segment), ev.Proxy.SegmentBreaker(), d.cfg.SegmentOptions().Breaker, now)
	}
	return toRecord(ev.Proxy.ID, ev.Proxy.Breaker(), pool.SettingsOf(ev.Proxy.Spec, d.cfg.BreakerSettings()), now)
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
