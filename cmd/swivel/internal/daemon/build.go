package daemon

import (
	"net/netip"
	"syscall"
	"time"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/canary"
	"swivel/cmd/swivel/internal/feed"
	"swivel/cmd/swivel/internal/forward"
	"swivel/cmd/swivel/internal/front"
	"swivel/cmd/swivel/internal/limit"
	"swivel/cmd/swivel/internal/metrics"
	"swivel/cmd/swivel/internal/targets"
	"swivel/cmd/swivel/internal/traffic"
	"swivel/cmd/swivel/internal/tryout"
	"swivel/cmd/swivel/internal/tunnel"
	"swivel/pool/upstream"
	"swivel/storage"
)

// headerTimeout and keepAlive bound a client connection: the time for a request
// head, and the time between two requests (longer than the 60 seconds after
// which common clients drop theirs, so that it is they who close).
const (
	headerTimeout = 30 * time.Second
	keepAlive     = 90 * time.Second
)

// build makes the parts that serve clients, around the pool.
func (d *Daemon) build() {
	a := d.cfg.Attempts
	d.journal = d.newJournal()
	d.rules, _ = targets.Parse(d.cfg.Targets.Allow, d.cfg.Targets.Deny) // valid: see config
	dialer := upstream.NewDialer(upstream.Timeouts{Dial: time.Duration(a.DialTimeout), Handshake: time.Duration(a.HandshakeTimeout)})
	dialer.Shun = func(at netip.AddrPort) bool { return d.self.Holds(at.String()) || d.rules.Denies(at) }
	d.loop = attempts.New(d.pool, d.attemptSettings(), d.sink)
	if at, err := tryout.ParseTarget(d.cfg.Canary.URL); err == nil { // else there is none: see config
		d.canary = canary.New(d.loop, dialer, at, d.log)
	}
	if d.member != nil {
		d.member.begin()
	}
	d.registry = tunnel.NewRegistry(time.Duration(d.cfg.Limits.TunnelIdle), &d.loop.Workers)
	d.registry.MaxAge = time.Duration(d.cfg.Limits.TunnelMaxAge)
	d.transports = upstream.NewTransports(dialer, time.Duration(a.ResponseTimeout))
	d.transports.LimitIdle(idleConnections())
	d.metrics = metrics.New(metrics.Sources{
		Pool: d.pool, Journal: d.journal.Stats, RetryBudget: d.loop.RetryBudget,
		Connections: func() int { return d.front.Connections() },
		LinesLost:   d.log.Lost,
		Fleet:       d.Fleet,
	})
	d.started = time.Now()
	d.traffic = traffic.New(d.started)
	d.feed = feed.New(d.started)
	d.front = d.newFront(dialer)
}

func (d *Daemon) newJournal() *storage.Journal {
	return storage.NewJournal(d.store, storage.Options{
		OnIncident: func(err error) {
			d.log.Error().Err(err).Msg("cannot write the database: states are kept in memory until it works again")
		},
		OnRecovered: func(n int) { d.log.Info().Int("failed_writes", n).Msg("the database can be written again") },
	})
}

func (d *Daemon) attemptSettings() attempts.Settings {
	a := d.cfg.Attempts
	return attempts.Settings{
		Attempts: a.Attempts, ExchangeTimeout: time.Duration(a.ExchangeTimeout),
		FirstByte: time.Duration(a.FirstByteTimeout), Response: time.Duration(a.ResponseTimeout),
		ProbePatience: time.Duration(d.cfg.Breaker.ProbePatience), OnExhausted: d.cfg.OnExhausted,
		HedgeOff: a.HedgeAfter.Off, HedgeAfter: time.Duration(a.HedgeAfter.Fixed), RetryBudget: a.RetryBudget,
	}
}

func (d *Daemon) newFront(dialer *upstream.Dialer) *front.Front {
	f := &front.Front{
		Settings: front.Settings{
			Connections: d.cfg.Limits.Connections, Files: maxFiles(), HeaderBytes: d.cfg.Limits.HeaderBytes,
			HeaderTimeout: headerTimeout, KeepAlive: keepAlive,
		},
		Loop:   d.loop,
		Tunnel: &tunnel.Server{Loop: d.loop, Dialer: dialer, Registry: d.registry},
		Forward: forward.New(d.transports, d.registry, forward.Settings{
			Response: time.Duration(d.cfg.Attempts.ResponseTimeout), Bans: d.cfg.Bans.Statuses, Retries: d.cfg.Attempts.RetryStatuses,
			ProbeBody: time.Duration(d.cfg.Attempts.FirstByteTimeout),
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
		f.TLS = d.shown.Config()
	}
	return f
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
