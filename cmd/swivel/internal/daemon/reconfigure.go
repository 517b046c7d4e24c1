package daemon

import (
	"fmt"
	"slices"
	"strings"

	"swivel/cmd/swivel/internal/config"
)

// live are the keys that a reload can change. What else there is, is built into
// parts of the daemon that have no second beginning.
var live = []string{"proxies", "users", "users_file", "log.level"}

// ReadConfigWith gives reloads a way to read the configuration again. It is
// called before Run, or never: then only the lists and the users are read.
func (d *Daemon) ReadConfigWith(read func() (config.Config, error)) { d.readConfig = read }

// nextConfig is the configuration as it is to be from now on, and the keys that
// have changed but take a restart. With an error it is the one that counts
// already. The caller holds reloadMu.
func (d *Daemon) nextConfig() (next config.Config, restart []string, err error) {
	next = d.cfg
	if d.readConfig == nil {
		return next, nil, nil
	}
	read, err := d.readConfig()
	if err == nil {
		next.Proxies, next.Users, next.UsersFile, next.Log.Level = read.Proxies, read.Users, read.UsersFile, read.Log.Level
		// Together with what stays they may be what nobody would allow, such as no
		// users on an address that others can reach.
		err = next.Validate()
	}
	if err != nil {
		d.log.Error().Err(err).Msg("reload of the configuration refused: the old one stays")
		return d.cfg, nil, fmt.Errorf("%w: the old configuration stays", err)
	}
	for _, key := range config.Changed(d.cfg, read) {
		if !slices.Contains(live, key) {
			restart = append(restart, key)
		}
	}
	if len(restart) > 0 {
		d.log.Warn().Str("keys", strings.Join(restart, ", ")).Msg("the configuration has changed in keys that take a restart")
	}
	return next, restart, nil
}

// nameLists makes other lists the ones that are read from now on. The caller
// holds reloadMu.
func (d *Daemon) nameLists(sources []string) {
	if slices.Equal(d.cfg.Proxies, sources) {
		return
	}
	d.cfg.Proxies = sources
	d.tellWatch()
}

// tellWatch says that there are other files to be watched now.
func (d *Daemon) tellWatch() {
	select {
	case d.filesNamed <- struct{}{}:
	default: // somebody is going to look anyway
	}
}

// lists are the lists that count now.
func (d *Daemon) lists() []string {
	d.reloadMu.Lock()
	defer d.reloadMu.Unlock()
	return d.cfg.Proxies
}
