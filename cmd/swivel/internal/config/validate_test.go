package config

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestDefaultsAreValid(t *testing.T) {
	c := Default()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if c.Listen != "127.0.0.1:8484" || c.Admin != "127.0.0.1:8485" {
		t.Errorf("listens on %s and %s: by default only this machine may come", c.Listen, c.Admin)
	}
}

func TestWhoMayReachTheListeners(t *testing.T) {
	for _, c := range []struct {
		listen, admin string
		open          bool
		want          string // how the problem begins; "" for none
	}{
		{listen: "127.0.0.1:0", admin: "127.0.0.1:0"},
		{listen: "localhost:1", admin: "off"},
		{listen: "[::1]:1", admin: "[::1]:2"},
		{listen: "127.9.9.9:1", admin: "127.0.0.1:1"},
		{listen: "[::ffff:127.0.0.1]:1", admin: "off"},
		{listen: "0.0.0.0:1", admin: "off", want: "listen: 0.0.0.0:1 can be reached"},
		{listen: ":1", admin: "off", want: "listen: :1 can be reached"},
		{listen: "[::]:1", admin: "off", want: "listen: [::]:1 can be reached"},
		{listen: "192.168.1.1:1", admin: "off", want: "listen: 192.168.1.1:1 can be reached"},
		{listen: "[fe80::1%lo]:1", admin: "off", want: "listen: [fe80::1%lo]:1 can be reached"},
		{listen: "0.0.0.0:1", admin: "off", open: true},
		{listen: "127.0.0.1:1", admin: "0.0.0.0:2", open: true, want: "admin: 0.0.0.0:2 can be reached"},
		{listen: "127.0.0.1:1", admin: ":2", want: "admin: :2 can be reached"},
		{listen: "127.0.0.1:1", admin: "10.0.0.1:2", want: "admin: 10.0.0.1:2 can be reached"},
		{listen: "127.0.0.1:1", admin: "127.0.0.1:1", want: "admin: want another port"},
		{listen: "127.0.0.1:8080", admin: "localhost:8080", want: "admin: want another port"},
		{listen: "127.0.0.1:http", admin: "127.0.0.1:80", want: "admin: want another port"},
		{listen: "", admin: "off", want: "listen: want host:port"},
		{listen: "127.0.0.1", admin: "off", want: "listen: want host:port"},
		{listen: "127.0.0.1:", admin: "off", want: "listen: want host:port"},
		{listen: "127.0.0.1:65536", admin: "off", want: "listen: want host:port"},
		{listen: "http://127.0.0.1:1", admin: "off", want: "listen: want host:port"},
		{listen: "example.com:1", admin: "off", want: "listen: want host:port"},
		{listen: "127.0.0.1:1", admin: "", want: "admin: want host:port"},
		{listen: "127.0.0.1:1", admin: "on", want: "admin: want host:port"},
	} {
		cfg := Default()
		cfg.Listen, cfg.Admin, cfg.AllowOpenProxy = c.listen, c.admin, c.open
		err := cfg.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%q, %q, open %v: %v, want %q", c.listen, c.admin, c.open, err, c.want)
		}
	}
}

func TestTokenKeepsStrangersOutOfTheAdminAPI(t *testing.T) {
	for _, set := range []func(*Config){
		func(c *Config) { c.AdminToken = "0123456789abcdef" },
		func(c *Config) { c.AdminTokenFile = "token" },
	} {
		c := Default()
		c.Admin = "0.0.0.0:8485"
		set(&c)
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestUsersKeepStrangersOut(t *testing.T) {
	for _, set := range []func(*Config){
		func(c *Config) { c.Users = []string{"alice:$2y$05$..."} },
		func(c *Config) { c.UsersFile = "htpasswd" },
	} {
		c := Default()
		c.Listen = "0.0.0.0:8484"
		set(&c)
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestValuesOutOfRangeAreRefusedByKey(t *testing.T) {
	century := Duration(100 * 365 * 24 * time.Hour)
	for key, spoil := range map[string][]func(*Config){
		"db":                        {func(c *Config) { c.DB = "" }},
		"proxies_refresh":           {func(c *Config) { c.ProxiesRefresh = 1 }, func(c *Config) { c.ProxiesRefresh = -1 }, func(c *Config) { c.ProxiesRefresh = century }},
		"grace":                     {func(c *Config) { c.Grace = -1 }, func(c *Config) { c.Grace = century }},
		"limits.connections":        {func(c *Config) { c.Limits.Connections = 0 }, func(c *Config) { c.Limits.Connections = -1 }},
		"limits.header_bytes":       {func(c *Config) { c.Limits.HeaderBytes = 8191 }, func(c *Config) { c.Limits.HeaderBytes = 1<<20 + 1 }},
		"limits.client_connections": {func(c *Config) { c.Limits.ClientConnections = -1 }},
		"limits.client_rate": {func(c *Config) { c.Limits.ClientRate = -1 }, func(c *Config) { c.Limits.ClientRate = math.NaN() },
			func(c *Config) { c.Limits.ClientRate = math.Inf(1) }, func(c *Config) { c.Limits.ClientRate = 1e-9 }},
		"limits.tunnel_max_age": {func(c *Config) { c.Limits.TunnelMaxAge = -1 }, func(c *Config) { c.Limits.TunnelMaxAge = century }},
		"targets.allow":         {func(c *Config) { c.Targets.Allow = []string{"good.test", "*.bad.test"} }},
		"targets.deny":          {func(c *Config) { c.Targets.Deny = []string{"10.0.0.1/8"} }},
		"limits.tunnel_idle":    {func(c *Config) { c.Limits.TunnelIdle = -1 }, func(c *Config) { c.Limits.TunnelIdle = century }},
		"attempts.attempts":     {func(c *Config) { c.Attempts.Attempts = 0 }, func(c *Config) { c.Attempts.Attempts = 21 }},
		"attempts.retry_budget": {func(c *Config) { c.Attempts.RetryBudget = -0.1 }, func(c *Config) { c.Attempts.RetryBudget = 19.1 },
			func(c *Config) { c.Attempts.RetryBudget = math.NaN() }},
		"attempts.retry_statuses": {func(c *Config) { c.Attempts.RetryStatuses = []int{503, 429} },
			func(c *Config) { c.Attempts.RetryStatuses = []int{200} }, func(c *Config) { c.Attempts.RetryStatuses = []int{600} }},
		"breaker.window":      {func(c *Config) { c.Breaker.Window = 0 }, func(c *Config) { c.Breaker.Window = century }},
		"breaker.error_ratio": {func(c *Config) { c.Breaker.ErrorRatio = 0 }, func(c *Config) { c.Breaker.ErrorRatio = math.NaN() }},
		"breaker.jitter":      {func(c *Config) { c.Breaker.Jitter = 1.1 }, func(c *Config) { c.Breaker.Jitter = math.Inf(1) }},
		"breaker.max_open_timeout": {func(c *Config) { c.Breaker.MaxOpenTimeout = c.Breaker.OpenTimeout - 1 },
			func(c *Config) { c.Breaker.MaxOpenTimeout = century }},
		"breaker.probe_successes":     {func(c *Config) { c.Breaker.ProbeSuccesses = 0 }},
		"breaker.latency_limit":       {func(c *Config) { c.Breaker.LatencyLimit = -1 }},
		"breaker.min_samples":         {func(c *Config) { c.Breaker.MinSamples = 0 }},
		"segment.min_samples":         {func(c *Config) { c.Segment.Enabled, c.Segment.MinSamples = true, 31 }},
		"segment.error_ratio":         {func(c *Config) { c.Segment.Enabled, c.Segment.ErrorRatio = true, 2 }},
		"segment.probes":              {func(c *Config) { c.Segment.Enabled, c.Segment.Probes = true, 0 }},
		"segment.max_share":           {func(c *Config) { c.Segment.MaxShare = 2 }},
		"attempts.dial_timeout":       spoilDuration(func(c *Config) *Duration { return &c.Attempts.DialTimeout }),
		"attempts.handshake_timeout":  spoilDuration(func(c *Config) *Duration { return &c.Attempts.HandshakeTimeout }),
		"attempts.exchange_timeout":   spoilDuration(func(c *Config) *Duration { return &c.Attempts.ExchangeTimeout }),
		"attempts.response_timeout":   spoilDuration(func(c *Config) *Duration { return &c.Attempts.ResponseTimeout }),
		"attempts.first_byte_timeout": spoilDuration(func(c *Config) *Duration { return &c.Attempts.FirstByteTimeout }),
		"breaker.probe_patience":      spoilDuration(func(c *Config) *Duration { return &c.Breaker.ProbePatience }),
		"bans.statuses":               {func(c *Config) { c.Bans.Statuses = []int{403, 200} }, func(c *Config) { c.Bans.Statuses = []int{-1} }},
		"bans.rest":                   spoilDuration(func(c *Config) *Duration { return &c.Bans.Rest }),
		"targets.rest":                {func(c *Config) { c.Targets.Rest = 0 }},
		"targets.max_rest": append(spoilDuration(func(c *Config) *Duration { return &c.Targets.MaxRest }),
			func(c *Config) { c.Targets.MaxRest = c.Targets.Rest - 1 }),
		"canary.url": {func(c *Config) { c.Canary.URL = "example.org:443" }, func(c *Config) { c.Canary.URL = "ftp://example.org/" },
			func(c *Config) { c.Canary.URL = "https://user:pass@example.org/" }},
		"restart.probe_rate": {func(c *Config) { c.Restart.ProbeRate = 0 }, func(c *Config) { c.Restart.ProbeRate = math.NaN() },
			func(c *Config) { c.Restart.ProbeRate = math.Inf(1) }},
	} {
		for i, f := range spoil {
			c := Default()
			f(&c)
			err := c.Validate()
			if err == nil || !strings.HasPrefix(err.Error(), key+":") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, case %d: %v", key, i, err)
			}
		}
	}
}

func TestProblemOfTheBreakerWasSaidAgainOfSegments(t *testing.T) {
	c := Default()
	c.Segment.Enabled, c.Breaker.OpenTimeout = true, 0
	if err := c.Validate(); err == nil || strings.Count(err.Error(), "open_timeout:") != 1 || !strings.HasPrefix(err.Error(), "breaker.open_timeout: ") {
		t.Error(err)
	}
}

func spoilDuration(field func(*Config) *Duration) (all []func(*Config)) {
	for _, d := range []Duration{0, -1, Duration(math.MaxInt64)} {
		all = append(all, func(c *Config) { *field(c) = d })
	}
	return all
}

func TestZeroConfigurationIsRefusedWithEveryProblem(t *testing.T) {
	err := new(Config).Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"listen:", "admin:", "db:", "breaker.window:", "attempts.attempts:", "bans.rest:", "targets.rest:", "limits.connections:", "restart.probe_rate:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %s in\n%v", want, err)
		}
	}
}

func TestCertificateAndKeyGoTogether(t *testing.T) {
	for _, c := range []struct{ cert, key, want string }{
		{"cert.pem", "key.pem", ""},
		{"cert.pem", "", "tls_key: want the file with the key of tls_cert"},
		{"", "key.pem", "tls_cert: want the file with the certificate that tls_key belongs to"},
	} {
		cfg := Default()
		cfg.TLSCert, cfg.TLSKey = c.cert, c.key
		got := ""
		if err := cfg.Validate(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q, %q: %q", c.cert, c.key, got)
		}
	}
}
