package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"swivel/cmd/swivel/internal/auth"
	"swivel/cmd/swivel/internal/certificate"
	"swivel/cmd/swivel/internal/config"
)

// readFiles reads who may come in, and what they are shown.
func (d *Daemon) readFiles() error {
	d.seen.look(d.cfg.UsersFile, d.cfg.TLSCert, d.cfg.TLSKey)
	users, err := auth.Read(d.cfg.Users, d.cfg.UsersFile)
	if err != nil {
		return err
	}
	d.guard = auth.NewGuard(users)
	if d.cfg.TLSCert == "" {
		return nil
	}
	if d.shown, err = certificate.Open(d.cfg.TLSCert, d.cfg.TLSKey); err != nil {
		return err
	}
	d.logCertificate("certificate")
	return nil
}

// reloadUsers leaves alone what each client has under way: that was begun by
// somebody who was allowed to.
func (d *Daemon) reloadUsers(next config.Config) error {
	if next.UsersFile == "" && slices.Equal(next.Users, d.cfg.Users) && d.cfg.UsersFile == "" {
		return nil
	}
	d.seen.look(next.UsersFile)
	users, err := auth.Read(next.Users, next.UsersFile)
	if err != nil {
		d.log.Error().Err(err).Msg("reload of the users refused: the old ones stay")
		return fmt.Errorf("%w: the old users stay", err)
	}
	d.guard.Replace(users)
	if next.UsersFile != d.cfg.UsersFile {
		defer d.tellWatch()
	}
	d.cfg.Users, d.cfg.UsersFile = next.Users, next.UsersFile
	d.log.Info().Int("users", users.Len()).Msg("users reloaded")
	return nil
}

// reloadCertificate counts for the connections to come.
func (d *Daemon) reloadCertificate() error {
	if d.shown == nil {
		return nil
	}
	d.seen.look(d.cfg.TLSCert, d.cfg.TLSKey)
	if err := d.shown.Reload(); err != nil {
		d.log.Warn().Err(err).Msg("reload of the certificate refused: the old one stays")
		return fmt.Errorf("%w: the old certificate stays", err)
	}
	d.logCertificate("certificate reloaded")
	return nil
}

func (d *Daemon) logCertificate(message string) {
	d.log.Info().Time("until", d.shown.Until()).Msg(message)
	d.warnOfCertificate(time.Now())
}

// watchCertificate warns of one that nobody has renewed, once a day until ctx ends.
func (d *Daemon) watchCertificate(ctx context.Context) {
	ticker := time.NewTicker(24 * time.Hour)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			d.warnOfCertificate(now)
		}
	}
}

func (d *Daemon) warnOfCertificate(now time.Time) {
	if concern := d.shown.Concern(now); concern != "" {
		d.log.Warn().Msg("tls_cert: " + concern)
	}
}
