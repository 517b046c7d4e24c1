package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"swivel/cmd/swivel/internal/admin"
	"swivel/cmd/swivel/internal/config"
	"swivel/pool"
)

// whom are the flags of commands that ask a running daemon.
type whom struct {
	Config string  `help:"Configuration file (YAML)." type:"configfile" placeholder:"FILE" env:"SWIVEL_CONFIG"`
	Admin  *string `help:"Admin API of the daemon to ask (default 127.0.0.1:8485)." placeholder:"HOST:PORT"`
}

// daemon is the one that the flags and the configuration name. What else is in
// the configuration is no concern of who only asks.
func (f *whom) daemon(command string, s streams) (asked, error) {
	cfg, err := config.Load(config.Default(), f.Config, s.env)
	if err != nil {
		return asked{}, usageError{err}
	}
	override(&cfg.Admin, f.Admin)
	return daemonOf(cfg, command)
}

// asked is a running daemon, by its admin API.
type asked struct {
	command string // who asks, for messages
	address string
	token   pool.Secret
}

func daemonOf(cfg config.Config, command string) (asked, error) {
	if cfg.Admin == "off" {
		return asked{}, usageError{errors.New(command + ": the admin API is off")}
	}
	if !isHostPort(cfg.Admin) { // it may hold a password, so it is not shown
		return asked{}, usageError{fmt.Errorf("%s: admin: want HOST:PORT", command)}
	}
	token, err := admin.ReadToken(cfg.AdminToken, cfg.AdminTokenFile)
	if err != nil {
		return asked{}, usageError{err}
	}
	return asked{command, cfg.Admin, token}, nil
}

func isHostPort(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil || strings.ContainsAny(host, "@/?#") {
		return false
	}
	_, err = net.LookupPort("tcp", port)
	return err == nil && port != ""
}

// askTimeout bounds how long a daemon may take to answer; a reload fetches lists.
const (
	askTimeout    = 30 * time.Second
	reloadTimeout = 5 * time.Minute
)

// wantedToken says how to show the admin token.
func (d asked) wantedToken() string {
	const how = "set SWIVEL_ADMIN_TOKEN, or name the daemon's configuration with --config"
	if d.token == "" {
		return d.address + " wants the admin token: " + how
	}
	return d.address + " wants another admin token than it was shown: " + how
}

// get asks for what is at a path.
func (d asked) get(path string, answer any) error {
	return d.do(askTimeout, http.MethodGet, path, nil, answer)
}

// post has something done.
func (d asked) post(path string, body, answer any) error {
	return d.do(reloadTimeout, http.MethodPost, path, body, answer)
}

// do asks. What the daemon refuses is the user's to mend, and what it fails at is
// not.
func (d asked) do(limit time.Duration, method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+d.address+path, bytes.NewReader(text))
	if err != nil {
		return usageError{fmt.Errorf("%s: admin: want HOST:PORT", d.command)}
	}
	request.Header.Set("Content-Type", "application/json")
	admin.Authorize(request, d.token)
	direct := http.Transport{DisableKeepAlives: true} // never by way of a proxy
	response, err := direct.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("%s: no daemon answers at %s; say --admin HOST:PORT", d.command, d.address)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusOK {
		if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
			return fmt.Errorf("%s: what %s answers makes no sense", d.command, d.address)
		}
		return nil
	}
	var problem struct{ Error string }
	if json.NewDecoder(io.LimitReader(response.Body, 64<<10)).Decode(&problem) != nil || problem.Error == "" {
		problem.Error = "what answers at " + d.address + " is no swivel: " + response.Status
	}
	if response.StatusCode == http.StatusUnauthorized {
		problem.Error = d.wantedToken()
	}
	err = errors.New(d.command + ": " + problem.Error)
	if response.StatusCode < http.StatusInternalServerError {
		err = usageError{err}
	}
	return err
}
