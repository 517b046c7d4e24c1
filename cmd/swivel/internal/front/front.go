package front

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/auth"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/forward"
	"swivel/cmd/swivel/internal/limit"
	"swivel/cmd/swivel/internal/metrics"
	"swivel/cmd/swivel/internal/reply"
	"swivel/cmd/swivel/internal/socket"
	"swivel/cmd/swivel/internal/targets"
	"swivel/cmd/swivel/internal/traffic"
	"swivel/cmd/swivel/internal/tunnel"
)

// Settings are the limits of the listener.
type Settings struct {
	Connections   int           // open client connections
	Files         int           // descriptors that the process may have; 0: not known
	HeaderBytes   int           // of a request head
	HeaderTimeout time.Duration // from a head's first byte to its last
	KeepAlive     time.Duration // between two requests of a connection
}

// Front serves client connections. It is safe for concurrent use.
type Front struct {
	Settings Settings
	Loop     *attempts.Loop
	Tunnel   *tunnel.Server
	Forward  *forward.Handler
	Log      *eventlog.Log
	Metrics  *metrics.Metrics  // nil: nothing is counted
	Traffic  *traffic.Recorder // nil: nothing is remembered
	Self     Self
	Targets  *targets.Rules // nil: all are allowed
	TLS      *tls.Config    // nil: it is not spoken

	Guard     *auth.Guard        // nil: nobody has to authenticate
	Rate      *limit.Rate        // of the exchanges of one client; nil: no limit
	PerClient *limit.Connections // of one client; nil: no limit

	mu       sync.Mutex
	conns    map[*client]struct{}
	refusing int           // of conns: those that are only told that swivel is full
	empty    chan struct{} // closed when stopping and no connection is left
	stopping bool
	warned   time.Time // that descriptors are missing
	failed   time.Time // a handshake, of which the log told

	slips slips
}

// Listen opens the listening socket. Keep-alive is set once here: accepted
// sockets inherit it from the listening one, which saves four system calls per
// connection.
func Listen(ctx context.Context, address string) (*net.TCPListener, error) {
	lc := net.ListenConfig{
		KeepAlive: -1,
		Control: func(_, _ string, c syscall.RawConn) error {
			var err error
			if e := c.Control(func(fd uintptr) { err = keepAlive(int(fd)) }); e != nil {
				return e
			}
			return err
		},
	}
	return socket.Listen(ctx, &lc, address)
}

func keepAlive(fd int) error {
	for _, o := range [][3]int{
		{syscall.SOL_SOCKET, syscall.SO_KEEPALIVE, 1},
		{syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE, 30},
		{syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL, 10},
		{syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT, 5},
	} {
		if err := syscall.SetsockoptInt(fd, o[0], o[1], o[2]); err != nil {
			return err
		}
	}
	return nil
}

// Serve accepts connections until the listener is closed. Its error is nil
// after Shutdown.
func (f *Front) Serve(ln *net.TCPListener) error {
	f.mu.Lock()
	f.conns = map[*client]struct{}{}
	f.empty = make(chan struct{})
	f.mu.Unlock()
	for pause := time.Duration(0); ; {
		c, err := ln.AcceptTCP()
		switch {
		case err == nil:
			pause = 0
			f.start(c)
		case errors.Is(err, net.ErrClosed):
			return nil
		case isPassing(err):
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			f.mu.Lock()
			f.warnOfFiles(err, pause)
			f.mu.Unlock()
			time.Sleep(pause)
		default:
			return err
		}
	}
}

// start registers the connection and serves it. A connection that is being
// refused takes no place: clients that keep coming back would else keep swivel
// full with their own refusals.
func (f *Front) start(c *net.TCPConn) {
	from := c.RemoteAddr().(*net.TCPAddr).AddrPort()
	addr := limit.Address(from.Addr())
	cl := &client{front: f, tcp: c, conn: c, addr: addr, counted: addr}
	cl.name = netip.AddrPortFrom(from.Addr().Unmap(), from.Port()).String()
	switch known := f.register(cl); {
	case cl.refused == nil && known:
		f.Loop.Workers.Go(cl.serve)
	case known:
		go cl.refusePlace()
	case cl.refused != nil:
		cl.refuseQuickly()
	default:
		_ = c.Close()
	}
}

// register makes the client one of those that are connected; false if it may not
// even wait to be refused.
func (f *Front) register(cl *client) (known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopping {
		return false
	}
	if cl.refused = f.noPlace(cl.tcp, cl.addr); cl.refused != nil {
		if f.refusing >= f.mayRefuse() {
			return false
		}
		f.refusing++
	}
	f.conns[cl] = struct{}{}
	return true
}

// noPlace says why a client cannot be served; if it can, it is counted. A user
// is known only when it has authenticated: until then its address counts. mu is
// held.
func (f *Front) noPlace(c *net.TCPConn, addr limit.Client) *reply.Error {
	if f.isScarce(c) {
		return reply.OverCapacity()
	}
	if f.Settings.Connections > 0 && len(f.conns)-f.refusing >= f.Settings.Connections {
		return reply.OverCapacity()
	}
	if !f.PerClient.Enter(addr) {
		return reply.TooManyConnections()
	}
	return nil
}

func (f *Front) forget(cl *client) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, cl)
	if cl.refused != nil {
		f.refusing--
	} else {
		f.PerClient.Leave(cl.counted)
	}
	if f.stopping && len(f.conns) == 0 {
		close(f.empty)
	}
}

// report logs and counts an exchange that is over.
func (f *Front) report(x *eventlog.Exchange) {
	f.Log.Exchange(*x)
	f.Metrics.Exchange(x)
	f.Traffic.Exchange(x, time.Now())
}

// Connections returns how many clients are connected.
func (f *Front) Connections() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.conns)
}

// Shutdown ends idle connections at once, lets the others finish until ctx
// ends, and then cuts them. The listener must be closed before. It returns how
// many had to be cut.
func (f *Front) Shutdown(ctx context.Context) (cut int) {
	f.mu.Lock()
	f.stopping = true
	if len(f.conns) == 0 {
		f.mu.Unlock()
		return 0
	}
	for cl := range f.conns {
		cl.closeIfIdle()
	}
	f.mu.Unlock()
	select {
	case <-f.empty:
		return 0
	case <-ctx.Done():
	}
	f.Loop.CutOff()
	f.mu.Lock()
	cut = len(f.conns)
	for cl := range f.conns {
		cl.cut.Store(true)
		cl.life.Cancel()
	}
	f.mu.Unlock()
	select {
	case <-f.empty:
		return cut
	case <-time.After(lastWords):
	}
	f.mu.Lock()
	for cl := range f.conns {
		_ = cl.tcp.Close()
	}
	f.mu.Unlock()
	<-f.empty
	return cut
}

// lastWords is how long clients that have no answer yet are told so when they are
// cut.
const lastWords = 100 * time.Millisecond

func (f *Front) isStopping() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stopping
}
