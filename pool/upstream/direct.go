package upstream

import (
	"context"
	"errors"

	"swivel/pool"
)

// direct connects the target itself, whose name is resolved here. What fails is
// the target's fault, or ours. A name may lead to an address that was refused as
// such, this process's own among them, so that is looked at again.
func (d *Dialer) direct(ctx context.Context, t target) (*Conn, error) {
	conn, err := d.open(ctx, &pool.Spec{Scheme: pool.Direct, Host: t.host, Port: t.port}, nil)
	var failed *Error
	if errors.As(err, &failed) && failed.Signal != pool.ClientGone && failed.Signal != pool.LocalFault {
		failed.Signal = pool.TargetNamed
	}
	return conn, err
}
