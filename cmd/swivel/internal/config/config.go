// Package config is what can be set: defaults, overlaid by a YAML file, by the
// environment and by flags, in that order. Every key of the file is also an
// environment variable: SWIVEL_ and the names of section and key, in capitals.
//
// All problems are reported at once, each naming the key and what it wants.
package config

import (
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/attempts"
	"swivel/pool"
)

// Config is the whole configuration. The zero value is not usable; see
// Default.
type Config struct {
	Listen string `yaml:"listen"` // address that clients connect to
	Admin  string `yaml:"admin"`  // address of the admin API, or "off"

	AdminToken     pool.Secret `yaml:"admin_token"`      // what the admin API wants to be shown; neither this nor a file: nothing
	AdminTokenFile string      `yaml:"admin_token_file"` // a file that holds it

	DB             string   `yaml:"db"`               // database file, or ":memory:"
	Proxies        []string `yaml:"proxies"`          // lists: files, or http and https URLs
	ProxiesRefresh Duration `yaml:"proxies_refresh"`  // how often URLs are fetched; 0: with a reload only
	Grace          Duration `yaml:"grace"`            // what exchanges get to finish at shutdown
	AllowOpenProxy bool     `yaml:"allow_open_proxy"` // serve anyone who can reach the port
	Users          []string `yaml:"users"`            // NAME:HASH of the clients that are served; none: all
	UsersFile      string   `yaml:"users_file"`       // htpasswd file with more of them
	TLSCert        string   `yaml:"tls_cert"`         // file with the certificate that clients are shown, and those between it and its authority behind it; none: no TLS is spoken with them
	TLSKey         string   `yaml:"tls_key"`          // file with its private key

	Fleet pool.Secret `yaml:"fleet"` // redis://, rediss:// or unix:// address of the Redis over which instances share what they know; none: this one is alone

	Strategy    pool.Strategy      `yaml:"strategy"`     // how a proxy is picked: weighted, round-robin, least-inflight or fastest
	OnExhausted attempts.Exhausted `yaml:"on_exhausted"` // what happens when none can be picked: reject, wait or direct

	Breaker  Breaker  `yaml:"breaker"`
	Attempts Attempts `yaml:"attempts"`
	Segment  Segment  `yaml:"segment"`
	Bans     Bans     `yaml:"bans"`
	Targets  Targets  `yaml:"targets"`
	Sessions Sessions `yaml:"sessions"`
	Limits   Limits   `yaml:"limits"`
	Restart  Restart  `yaml:"restart"`
	Canary   Canary   `yaml:"canary"`
	Log      Log      `yaml:"log"`
}

// Breaker are the limits of every proxy that does not override them on its
// line.
type Breaker struct {
	ConsecutiveFailures int      `yaml:"consecutive_failures"` // in a row that open it; 0: off
	RunWindow           Duration `yaml:"run_window"`           // how old the first of them may be
	Window              Duration `yaml:"window"`               // over which error_ratio is measured
	MinSamples          int      `yaml:"min_samples"`          // attempts in the window, before it counts
	ErrorRatio          float64  `yaml:"error_ratio"`          // failures among the attempts in the window that open it
	LatencyLimit        Duration `yaml:"latency_limit"`        // two blocks of ten attempts that are slower open it; 0: off
	OpenTimeout         Duration `yaml:"open_timeout"`         // the first rest; each further one is twice as long
	MaxOpenTimeout      Duration `yaml:"max_open_timeout"`     // the longest rest
	Jitter              float64  `yaml:"jitter"`               // share that a rest may be longer, so that not all end at once
	ProbeSuccesses      int      `yaml:"probe_successes"`      // tests in a row that close it
	RefusedTimeout      Duration `yaml:"refused_timeout"`      // the rest after credentials were rejected
	SlowStart           Duration `yaml:"slow_start"`           // after it has closed, until the proxy has its whole share again
	ProbePatience       Duration `yaml:"probe_patience"`       // what a client waits for a proxy that it tests
}

// Attempts bound an exchange.
type Attempts struct {
	Attempts         int      `yaml:"attempts"`           // for one request, at most, on different proxies (the only one again, after a moment)
	DialTimeout      Duration `yaml:"dial_timeout"`       // to reach a proxy
	HandshakeTimeout Duration `yaml:"handshake_timeout"`  // for its answer
	ExchangeTimeout  Duration `yaml:"exchange_timeout"`   // all attempts together, until a proxy has the request
	ResponseTimeout  Duration `yaml:"response_timeout"`   // for the head of a plain response
	FirstByteTimeout Duration `yaml:"first_byte_timeout"` // after the client's first byte in a tunnel; a signal, it does not end the tunnel
	HedgeAfter       Hedge    `yaml:"hedge_after"`        // when a second proxy is asked: p95, a duration, or off
	RetryBudget      float64  `yaml:"retry_budget"`       // retries and second proxies for each exchange, beside ten a second
	RetryStatuses    []int    `yaml:"retry_statuses"`     // of plain responses, for which another proxy is tried
}

// Segment has the proxies of one provider, region and protocol judged together
// too.
type Segment struct {
	Enabled    bool    `yaml:"enabled"`     // whether they are
	MinSamples int     `yaml:"min_samples"` // of the last 30 outcomes, before error_ratio counts
	ErrorRatio float64 `yaml:"error_ratio"` // failures among them that open its breaker
	Probes     int     `yaml:"probes"`      // tests in a row that bring it back
	MaxShare   float64 `yaml:"max_share"`   // share of the picks that one gets at most while another rests; 0: no limit
}

// Bans keep a proxy away from a target that it refuses.
type Bans struct {
	Statuses []int    `yaml:"statuses"` // of plain responses that ban too, such as 403 and 429
	Rest     Duration `yaml:"rest"`     // how long, when the response names no time
}

// Targets are left alone while they are down, and some at all times.
type Targets struct {
	Rest    Duration `yaml:"rest"`     // how long at first
	MaxRest Duration `yaml:"max_rest"` // how long at most, after it has doubled some times
	Allow   []string `yaml:"allow"`    // all that clients may have, unless it is empty; see package targets
	Deny    []string `yaml:"deny"`     // what they may not have
}

// Sessions keep a client's requests on one proxy.
type Sessions struct {
	TTL Duration `yaml:"ttl"` // how long after the last use, when the client does not say
	Max int      `yaml:"max"` // how many at once; the one that was not used for longest goes first
}

// Limits bound what clients can take.
type Limits struct {
	Connections       int      `yaml:"connections"`        // open client connections
	ClientConnections int      `yaml:"client_connections"` // those of one client; 0: no limit
	ClientRate        float64  `yaml:"client_rate"`        // exchanges a second of one client; 0: no limit
	HeaderBytes       int      `yaml:"header_bytes"`       // bytes of a request head
	TunnelIdle        Duration `yaml:"tunnel_idle"`        // how long a tunnel may carry nothing; 0: no limit
	TunnelMaxAge      Duration `yaml:"tunnel_max_age"`     // how long it may last, whatever it carries; 0: no limit
}

// Restart bounds what happens to proxies that fell due while nobody looked.
type Restart struct {
	ProbeRate float64 `yaml:"probe_rate"` // probes a second, beside 1 % of the pool
}

// Canary tests resting proxies apart from the traffic.
type Canary struct {
	URL string `yaml:"url"` // asked for through proxies whose rest is over; "": clients' requests test them
}

// Log says how the log looks.
type Log struct {
	Format string `yaml:"format"` // json or console
	Level  string `yaml:"level"`  // debug, info, warn or error
}

// Default returns the documented defaults.
func Default() Config {
	b := breaker.DefaultSettings()
	return Config{
		Listen: "127.0.0.1:8484", Admin: "127.0.0.1:8485", DB: "swivel.db", Grace: Duration(10 * time.Second),
		ProxiesRefresh: Duration(10 * time.Minute),
		Breaker: Breaker{
			ConsecutiveFailures: b.ConsecutiveFailures, RunWindow: Duration(b.RunWindow),
			Window: Duration(b.Window), MinSamples: b.MinSamples, ErrorRatio: b.ErrorRatio, LatencyLimit: Duration(b.LatencyLimit),
			OpenTimeout: Duration(b.OpenTimeout), MaxOpenTimeout: Duration(b.MaxOpenTimeout),
			Jitter: b.Jitter, ProbeSuccesses: b.ProbeSuccesses, RefusedTimeout: Duration(b.RefusedTimeout), SlowStart: Duration(b.SlowStart),
			ProbePatience: Duration(200 * time.Millisecond),
		},
		Segment: Segment{MinSamples: 10, ErrorRatio: 0.3, Probes: 3},
		Bans:    Bans{Rest: Duration(5 * time.Minute)},
		Targets: Targets{Rest: Duration(5 * time.Second), MaxRest: Duration(time.Minute)},
		Attempts: Attempts{
			Attempts: 5, DialTimeout: Duration(5 * time.Second), HandshakeTimeout: Duration(10 * time.Second),
			ExchangeTimeout: Duration(30 * time.Second), ResponseTimeout: Duration(2 * time.Minute),
			FirstByteTimeout: Duration(10 * time.Second), RetryBudget: 0.2,
		},
		Limits:   Limits{Connections: 10_000, HeaderBytes: 64 << 10, TunnelIdle: Duration(10 * time.Minute)},
		Sessions: Sessions{TTL: Duration(10 * time.Minute), Max: 100_000},
		Restart:  Restart{ProbeRate: 5},
		Log:      Log{Format: "json", Level: "info"},
	}
}

// BreakerSettings is the breaker section as package breaker wants it.
func (c *Config) BreakerSettings() breaker.Settings {
	return breaker.Settings{
		ConsecutiveFailures: c.Breaker.ConsecutiveFailures,
		RunWindow:           time.Duration(c.Breaker.RunWindow),
		Window:              time.Duration(c.Breaker.Window),
		MinSamples:          c.Breaker.MinSamples,
		ErrorRatio:          c.Breaker.ErrorRatio,
		LatencyLimit:        time.Duration(c.Breaker.LatencyLimit),
		OpenTimeout:         time.Duration(c.Breaker.OpenTimeout),
		MaxOpenTimeout:      time.Duration(c.Breaker.MaxOpenTimeout),
		Jitter:              c.Breaker.Jitter,
		ProbeSuccesses:      c.Breaker.ProbeSuccesses,
		RefusedTimeout:      time.Duration(c.Breaker.RefusedTimeout),
		SlowStart:           time.Duration(c.Breaker.SlowStart),
	}
}

// SegmentOptions is the segment section as package pool wants it; nil when
// segments are off.
func (c *Config) SegmentOptions() *pool.SegmentOptions {
	if !c.Segment.Enabled {
		return nil
	}
	s := c.BreakerSettings().Segment()
	s.MinSamples, s.ErrorRatio, s.ProbeSuccesses = c.Segment.MinSamples, c.Segment.ErrorRatio, c.Segment.Probes
	return &pool.SegmentOptions{Breaker: s, MaxShare: c.Segment.MaxShare}
}
