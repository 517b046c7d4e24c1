// Package demo is five toy upstream proxies inside this process, for a first
// look at swivel without a list, an account or a network: one is dead, one
// fails for a minute and then recovers, one is slow, two are good.
//
// The living ones really forward, over CONNECT and in absolute form. They also
// lead to a site of their own at [Host], over http and https, which answers
// with the toy's name: so rotation, an opening breaker and its recovery can be
// watched.
//
//	d, err := demo.Start(ctx, demo.Options{})
//	defer d.Close()
//	specs := d.Specs() // what a proxy list would hold
//
// All of it listens on 127.0.0.1 only. The methods of a Demo are safe for
// concurrent use.
package demo

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"swivel/pool"
)

// Host is the site that the toys answer themselves, on the ports 80 and 443.
// The top-level domain is reserved for tests (RFC 6761 section 6.2): a request
// that leaves the demo by mistake reaches nobody.
const Host = "swivel.test"

// Options are the manners of the toys. The zero value is what people see.
type Options struct {
	FlakyFor time.Duration    // how long flaky fails, from the start; 0: a minute
	Delay    time.Duration    // how late slow is; 0: half a second
	Now      func() time.Time // flaky's clock; nil: time.Now
}

// Demo is the running toys.
type Demo struct {
	toys       []*toy
	flakyUntil time.Time
	folder     string // holds the certificate while the demo runs
	closers    []io.Closer

	ctx    context.Context // ends tunnels and waiting
	cancel context.CancelFunc
	open   sync.WaitGroup // servers and their connections
}

// Start starts the toys; ctx bounds the start only.
func Start(ctx context.Context, o Options) (*Demo, error) {
	if o.FlakyFor == 0 {
		o.FlakyFor = time.Minute
	}
	if o.Delay == 0 {
		o.Delay = 500 * time.Millisecond // a hundred requests still end in ten seconds
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &Demo{flakyUntil: o.Now().Add(o.FlakyFor)}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.toys = d.roster(o)
	if err := d.start(ctx); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// roster is who takes part.
func (d *Demo) roster(o Options) []*toy {
	return []*toy{
		{name: "dead", weight: 1, does: "refuses every connection", dead: true},
		{name: "flaky", weight: 1, does: "answers 502 until " + d.flakyUntil.Format(time.TimeOnly) + ", works after that",
			manner: failsUntil(d.flakyUntil, o.Now)},
		{name: "slow", weight: 1, does: "works, but answers " + o.Delay.String() + " late", manner: late(o.Delay)},
		{name: "good", weight: 2, does: "works"},
		{name: "better", weight: 3, does: "works"},
	}
}

func (d *Demo) start(ctx context.Context) error {
	certificate, err := d.certify()
	if err != nil {
		return err
	}
	for _, t := range d.toys {
		if t.dead {
			err = d.reserve(t)
		} else {
			err = d.bring(ctx, t, certificate)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// certify makes the certificate of the site, and leaves the one that vouches
// for it where clients can be pointed to.
func (d *Demo) certify() (tls.Certificate, error) {
	certificate, authority, err := newCertificate(time.Now())
	if err != nil {
		return tls.Certificate{}, err
	}
	if d.folder, err = os.MkdirTemp("", "swivel-demo-"); err != nil {
		return tls.Certificate{}, err
	}
	return certificate, os.WriteFile(d.CAFile(), authority, 0o600)
}

// CAFile is the certificate to trust for https://swivel.test/, in PEM. Close
// removes it.
func (d *Demo) CAFile() string { return filepath.Join(d.folder, "ca.pem") }

// reserve gives a dead toy its port.
func (d *Demo) reserve(t *toy) error {
	closer, addr, err := reservePort()
	if err != nil {
		return err
	}
	t.addr = addr
	d.closers = append(d.closers, closer)
	return nil
}

// bring opens the listeners of a living toy: for clients, and for its site.
func (d *Demo) bring(ctx context.Context, t *toy, certificate tls.Certificate) (err error) {
	t.build(d.ctx, d.open.Done)
	if t.addr, err = d.serve(ctx, t, nil); err != nil {
		return err
	}
	if t.site, err = d.serve(ctx, site(t.name), nil); err != nil {
		return err
	}
	t.secureSite, err = d.serve(ctx, site(t.name), &tls.Config{Certificates: []tls.Certificate{certificate}})
	return err
}

// idleTimeout is longer than swivel keeps idle connections, so that it is not
// the toys who close.
const idleTimeout = 2 * time.Minute

// serve answers on a port of its own until Close.
func (d *Demo) serve(ctx context.Context, h http.Handler, secure *tls.Config) (netip.AddrPort, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return netip.AddrPort{}, err
	}
	server := &http.Server{
		Handler: h, TLSConfig: secure, ConnState: d.count, ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: idleTimeout,
		BaseContext: func(net.Listener) context.Context { return d.ctx },
	}
	d.closers = append(d.closers, server, ln)
	d.open.Go(func() {
		if secure != nil {
			_ = server.ServeTLS(ln, "", "")
		} else {
			_ = server.Serve(ln)
		}
	})
	return ln.Addr().(*net.TCPAddr).AddrPort(), nil
}

// count keeps the number of open connections. A new one is told by the server
// itself, which is counted too: so the number is not zero before all is over.
// Hijacked ones are tunnels, and count until their toy says so.
func (d *Demo) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		d.open.Add(1)
	case http.StateClosed:
		d.open.Done()
	}
}

// Specs are the toys as a proxy list would describe them.
func (d *Demo) Specs() []*pool.Spec {
	specs := make([]*pool.Spec, 0, len(d.toys))
	for _, t := range d.toys {
		specs = append(specs, &pool.Spec{
			Scheme: pool.HTTP, Host: t.addr.Addr().String(), Port: t.addr.Port(), Weight: t.weight, Name: t.name,
		})
	}
	return specs
}

// Close ends the toys and their connections, waits until they are gone, and
// removes the certificate.
func (d *Demo) Close() error {
	d.cancel()
	var problems []error
	for _, c := range d.closers {
		if err := c.Close(); !errors.Is(err, net.ErrClosed) {
			problems = append(problems, err)
		}
	}
	for _, t := range d.toys {
		t.closeIdle()
	}
	d.open.Wait()
	if d.folder != "" {
		problems = append(problems, os.RemoveAll(d.folder))
	}
	return errors.Join(problems...)
}
