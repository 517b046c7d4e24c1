package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"swivel/cmd/swivel/internal/admin"
	"swivel/cmd/swivel/internal/front"
	"swivel/cmd/swivel/internal/systemd"
)

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
