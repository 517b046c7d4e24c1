package config

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"swivel/cmd/swivel/internal/targets"
	"swivel/cmd/swivel/internal/tryout"
	"swivel/storage/redis"
)

// longest is the longest duration: sums of a few of them do not overflow.
const longest = Duration(365 * 24 * time.Hour)

// maxRetryBudget is every attempt but the first of all that an exchange may have.
const maxRetryBudget = maxAttempts - 1

// maxAttempts is more than anybody wants to wait for.
const maxAttempts = 20

// The limits of client_rate: from one in 1000 seconds, which is how long clients
// are remembered then, to more than any machine can do.
const (
	minClientRate = 0.001
	maxClientRate = 1_000_000
)

// minRefresh spares the servers that lists come from.
const minRefresh = Duration(10 * time.Second)

// maxSessions takes some 300 MiB.
const maxSessions = 1_000_000

// maxProbeRate is more than any machine can do.
const maxProbeRate = 1_000_000

// report takes one thing that is wrong with a key.
type report func(key, format string, args ...any)

// Validate reports everything that is wrong, joined.
func (c *Config) Validate() error {
	var problems []error
	bad := func(key, format string, args ...any) {
		problems = append(problems, fmt.Errorf(key+": "+format, args...))
	}
	c.checkListen(bad)
	c.checkCertificate(bad)
	c.checkStores(bad)
	problems = append(problems, c.checkBreakers()...)
	c.checkAttempts(bad)
	c.checkBans(bad)
	c.checkLimits(bad)
	if _, err := targets.Parse(c.Targets.Allow, c.Targets.Deny); err != nil {
		problems = append(problems, inSection("targets", err)...)
	}
	c.checkTests(bad)
	c.checkSessions(bad)
	c.checkTimes(bad)
	return errors.Join(problems...)
}

// inSection puts the name of the section in front of problems that begin with a key.
func inSection(section string, err error) (problems []error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		problems = append(problems, errors.New(section+"."+line))
	}
	return problems
}

// checkBreakers checks what package breaker knows the limits of.
func (c *Config) checkBreakers() (problems []error) {
	if err := c.BreakerSettings().Validate(); err != nil {
		problems = inSection("breaker", err)
	}
	problems = append(problems, c.checkSegment()...)
	if s := c.Segment.MaxShare; !(s >= 0 && s <= 1) {
		problems = append(problems, errors.New("segment.max_share: want a share from 0 (no limit) to 1"))
	}
	return problems
}

// checkSegment checks what is only in force with segments.
func (c *Config) checkSegment() (problems []error) {
	if !c.Segment.Enabled {
		return nil
	}
	own := Default() // what the two have in common is said once
	own.Segment = c.Segment
	if err := own.SegmentOptions().Breaker.Validate(); err != nil {
		for _, problem := range inSection("segment", err) {
			if rest, ok := strings.CutPrefix(problem.Error(), "segment.probe_successes:"); ok {
				problem = errors.New("segment.probes:" + rest)
			}
			problems = append(problems, problem)
		}
	}
	return problems
}

func (c *Config) checkListen(bad report) {
	switch loopback, err := isLoopback(c.Listen); {
	case err != nil:
		bad("listen", "want host:port such as 127.0.0.1:8484")
	case !loopback && !c.AllowOpenProxy && len(c.Users) == 0 && c.UsersFile == "":
		bad("listen", "%s can be reached from other machines, and everybody could use your proxies; "+
			"listen on 127.0.0.1, name who may with --user or --users-file, or say --allow-open-proxy if something else keeps strangers out", c.Listen)
	}
	if c.Admin == "off" {
		return
	}
	switch loopback, err := isLoopback(c.Admin); {
	case err != nil:
		bad("admin", "want host:port such as 127.0.0.1:8485, or off")
	case !loopback && c.AdminToken == "" && c.AdminTokenFile == "":
		bad("admin", "%s can be reached from other machines, and everybody could command this swivel; "+
			"listen on 127.0.0.1, or give a token with SWIVEL_ADMIN_TOKEN or admin_token_file", c.Admin)
	case sameAddress(c.Admin, c.Listen):
		bad("admin", "want another port than listen has")
	}
}

func (c *Config) checkCertificate(bad report) {
	switch {
	case c.TLSCert != "" && c.TLSKey == "":
		bad("tls_key", "want the file with the key of tls_cert")
	case c.TLSCert == "" && c.TLSKey != "":
		bad("tls_cert", "want the file with the certificate that tls_key belongs to")
	}
}

func (c *Config) checkStores(bad report) {
	if c.DB == "" {
		bad("db", "want a file, or :memory: to keep nothing")
	}
	if c.Fleet != "" {
		if err := redis.Check(c.Fleet.Reveal()); err != nil {
			bad("fleet", "%w", err)
		}
	}
}

func (c *Config) checkAttempts(bad report) {
	if c.Attempts.Attempts < 1 || c.Attempts.Attempts > maxAttempts {
		bad("attempts.attempts", "want 1 to %d", maxAttempts)
	}
	for _, d := range []struct {
		key   string
		value Duration
	}{
		{"attempts.dial_timeout", c.Attempts.DialTimeout},
		{"attempts.handshake_timeout", c.Attempts.HandshakeTimeout},
		{"attempts.exchange_timeout", c.Attempts.ExchangeTimeout},
		{"attempts.response_timeout", c.Attempts.ResponseTimeout},
		{"attempts.first_byte_timeout", c.Attempts.FirstByteTimeout},
		{"breaker.probe_patience", c.Breaker.ProbePatience},
		{"bans.rest", c.Bans.Rest},
		{"targets.rest", c.Targets.Rest},
		{"targets.max_rest", c.Targets.MaxRest},
	} {
		if d.value <= 0 || d.value > longest {
			bad(d.key, "want a duration such as 10s, more than 0 and at most %v", longest)
		}
	}
	if b := c.Attempts.RetryBudget; !(b >= 0 && b <= maxRetryBudget) {
		bad("attempts.retry_budget", "want a share of the requests from 0 to %d, such as 0.2", maxRetryBudget)
	}
	for _, status := range c.Attempts.RetryStatuses {
		switch {
		case status == 429:
			bad("attempts.retry_statuses", "429 cannot be among them: a target that asks to slow down is not answered by switching IP; see bans.statuses")
		case status < 400 || status > 599:
			bad("attempts.retry_statuses", "want statuses from 400 to 599, such as 503")
		}
	}
	if c.Targets.MaxRest > 0 && c.Targets.MaxRest < c.Targets.Rest {
		bad("targets.max_rest", "want no less than targets.rest, which is %v", c.Targets.Rest)
	}
}

func (c *Config) checkBans(bad report) {
	for _, status := range c.Bans.Statuses {
		if status < 400 || status > 599 {
			bad("bans.statuses", "want statuses from 400 to 599, such as 403 and 429")
		}
	}
}

func (c *Config) checkLimits(bad report) {
	if c.Limits.Connections < 1 {
		bad("limits.connections", "want 1 or more")
	}
	if c.Limits.ClientConnections < 0 {
		bad("limits.client_connections", "want 0 (no limit) or more")
	}
	if r := c.Limits.ClientRate; r != 0 && !(r >= minClientRate && r <= maxClientRate) { // NaN too
		bad("limits.client_rate", "want 0 (no limit) or %v to %v requests a second", minClientRate, maxClientRate)
	}
	if c.Limits.HeaderBytes < 8<<10 || c.Limits.HeaderBytes > 1<<20 {
		bad("limits.header_bytes", "want 8192 to 1048576")
	}
	if c.Limits.TunnelIdle < 0 || c.Limits.TunnelIdle > longest {
		bad("limits.tunnel_idle", "want 0 (no limit) or a duration such as 10m, at most %v", longest)
	}
	if c.Limits.TunnelMaxAge < 0 || c.Limits.TunnelMaxAge > longest {
		bad("limits.tunnel_max_age", "want 0 (no limit) or a duration such as 12h, at most %v", longest)
	}
}

// checkTests is about how resting proxies are tested.
func (c *Config) checkTests(bad report) {
	if !(c.Restart.ProbeRate >= 1 && c.Restart.ProbeRate <= maxProbeRate) { // NaN too
		bad("restart.probe_rate", "want 1 to %d probes a second", maxProbeRate)
	}
	if t, err := tryout.ParseTarget(c.Canary.URL); c.Canary.URL != "" && (err != nil || !t.IsURL()) {
		bad("canary.url", "want an http or https URL without credentials, or nothing")
	}
}

func (c *Config) checkSessions(bad report) {
	if c.Sessions.TTL < Duration(time.Second) || c.Sessions.TTL > longest {
		bad("sessions.ttl", "want a duration of 1s or more, such as 10m, at most %v", longest)
	}
	if c.Sessions.Max < 1 || c.Sessions.Max > maxSessions {
		bad("sessions.max", "want 1 to %d", maxSessions)
	}
}

// checkTimes is about the daemon's own work.
func (c *Config) checkTimes(bad report) {
	if r := c.ProxiesRefresh; r != 0 && (r < minRefresh || r > longest) {
		bad("proxies_refresh", "want 0 (with a reload only) or a duration of %v or more, such as 10m", minRefresh)
	}
	if c.Grace < 0 || c.Grace > longest {
		bad("grace", "want a duration such as 10s, at most %v", longest)
	}
}
