package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
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

// Validate reports everything that is wrong, joined.
func (c *Config) Validate() error {
	var problems []error
	bad := func(key, format string, args ...any) {
		problems = append(problems, fmt.Errorf(key+": "+format, args...))
	}
	c.checkListen(bad)
	switch {
	case c.TLSCert != "" && c.TLSKey == "":
		bad("tls_key", "want the file with the key of tls_cert")
	case c.TLSCert == "" && c.TLSKey != "":
		bad("tls_cert", "want the file with the certificate that tls_key belongs to")
	}
	if c.DB == "" {
		bad("db", "want a file, or :memory: to keep nothing")
	}
	if c.Fleet != "" {
		if err := redis.Check(c.Fleet.Reveal()); err != nil {
			bad("fleet", "%w", err)
		}
	}
	problems = append(problems, c.checkBreakers()...)
	if s := c.Segment.MaxShare; !(s >= 0 && s <= 1) {
		bad("segment.max_share", "want a share from 0 (no limit) to 1")
	}
	c.checkAttempts(bad)
	for _, status := range c.Bans.Statuses {
		if status < 400 || status > 599 {
			bad("bans.statuses", "want statuses from 400 to 599, such as 403 and 429")
		}
	}
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
	if _, err := targets.Parse(c.Targets.Allow, c.Targets.Deny); err != nil {
		problems = append(problems, inSection("targets", err)...)
	}
	if !(c.Restart.ProbeRate >= 1 && c.Restart.ProbeRate <= maxProbeRate) { // NaN too
		bad("restart.probe_rate", "want 1 to %d probes a second", maxProbeRate)
	}
	if t, err := tryout.ParseTarget(c.Canary.URL); c.Canary.URL != "" && (err != nil || !t.IsURL()) {
		bad("canary.url", "want an http or https URL without credentials, or nothing")
	}
	if c.Sessions.TTL < Duration(time.Second) || c.Sessions.TTL > longest {
		bad("sessions.ttl", "want a duration of 1s or more, such as 10m, at most %v", longest)
	}
	if c.Sessions.Max < 1 || c.Sessions.Max > maxSessions {
		bad("sessions.max", "want 1 to %d", maxSessions)
	}
	if r := c.ProxiesRefresh; r != 0 && (r < minRefresh || r > longest) {
		bad("proxies_refresh", "want 0 (with a reload only) or a duration of %v or more, such as 10m", minRefresh)
	}
	if c.Grace < 0 || c.Grace > longest {
		bad("grace", "want a duration such as 10s, at most %v", longest)
	}
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
	if !c.Segment.Enabled {
		return problems
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

func (c *Config) checkListen(bad func(key, format string, args ...any)) {
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

func (c *Config) checkAttempts(bad func(key, format string, args ...any)) {
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

// isLoopback says whether an address can be reached from this machine only.
func isLoopback(address string) (bool, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false, err
	}
	if port == "" {
		return false, errors.New("no port")
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return false, err
	}
	if host == "localhost" {
		return true, nil
	}
	if host == "" {
		return false, nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false, err
	}
	return ip.IsLoopback(), nil
}

// sameAddress says whether two listeners would meet: not with a port that the
// system gives.
func sameAddress(a, b string) bool {
	a, b = numeric(a), numeric(b)
	return a == b && a != "" && !strings.HasSuffix(a, ":0")
}

// numeric writes an address without names.
func numeric(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		return ""
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(number))
}
