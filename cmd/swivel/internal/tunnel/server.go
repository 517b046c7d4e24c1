package tunnel

import (
	"context"
	"net"
	"time"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/reply"
	"swivel/pool"
	"swivel/pool/upstream"
	"swivel/pool/upstream/lifetime"
)

// Server serves CONNECT requests, of HTTP or of SOCKS. It is safe for concurrent
// use.
type Server struct {
	Loop     *attempts.Loop
	Dialer   *upstream.Dialer
	Registry *Registry
}

// Result is what became of a CONNECT, for the log.
type Result struct {
	Status  int // as HTTP clients are told; 499 when the client had left
	Code    string
	Reason  string // what a refusal says
	Proxy   *pool.Proxy
	Traffic Traffic
	// Opened is the time from the request to the answer that it is open.
	Opened time.Duration
}

// ClientLeft is the status logged when nobody waits for an answer any more.
const ClientLeft = 499

// Serve opens a tunnel to the exchange's target for the client. early is what the
// client sent behind its request: it goes to the proxy that wins. answers is what
// the client understands. The end of life ends the attempts; the tunnel ends life
// when it is over, or when nobody waits for that any more.
//
// If open, the connection is the tunnel's from here on, and Serve has returned
// while it lasts; ended is called when it is over and both sides are closed. Else
// the client has been told why not, the connection is left to the caller, and
// ended is not called.
func (s *Server) Serve(life *lifetime.Context, c net.Conn, early []byte, x *attempts.Exchange, answers Answers, ended func(Result)) (r Result, open bool) {
	began := time.Now()
	up, lease, err := s.open(life, c, x)
	if err != nil {
		x.End()
		return refuse(c, x.ID, err, answers), false
	}
	p := &pair{client: c, upstream: up.Conn, over: life.Cancel}
	v := watchFirstByte(x, lease, early, s.Loop.Settings.FirstByte, s.failover(life, x, p))
	result := Result{Status: 200, Proxy: lease.Proxy, Opened: time.Since(began)}
	if len(early) > 0 {
		_, _ = up.Write(early) // who reads from it will notice if it is gone
	}
	if len(up.Early) > 0 {
		v.Received(up.Conn)
	}
	if err := hello(c, up, lease, answers); err != nil {
		p.close()
		v.ClientEnded()
		v.Ended()
		v.release()
		result.Status, result.Code = ClientLeft, "client_gone"
		return result, false
	}
	before := Traffic{Up: int64(len(early)), Down: int64(len(up.Early))}
	s.Registry.start(p, v, v, func(t Traffic) {
		v.release()
		result.Traffic = Traffic{Up: before.Up + t.Up, Down: before.Down + t.Down}
		result.Proxy = v.proxy()
		ended(result)
	})
	return Result{}, true
}

// failover is how a tunnel can move. That of a session cannot: to its target the
// client would be somebody else.
func (s *Server) failover(life *lifetime.Context, x *attempts.Exchange, p *pair) failover {
	if x.Sticky() {
		return failover{tunnel: p}
	}
	return failover{s, p, life}
}

// open runs the attempts, and gives up when the client leaves.
func (s *Server) open(life *lifetime.Context, c net.Conn, x *attempts.Exchange) (*upstream.Conn, *pool.Lease, error) {
	stop := WatchGone(c, life.Cancel)
	defer stop()
	return attempts.Run(life, x, s.plan(x, nil))
}

// plan is how a tunnel is opened; after is the lease of the tunnel that it is to
// replace, if any.
func (s *Server) plan(x *attempts.Exchange, after *pool.Lease) attempts.Plan[*upstream.Conn] {
	return attempts.Plan[*upstream.Conn]{
		Try: func(ctx context.Context, l *pool.Lease) (*upstream.Conn, error) {
			return s.Dialer.Tunnel(ctx, l.Spec, x.Target, x.Hops)
		},
		Late: func(l *pool.Lease, up *upstream.Conn) {
			x.Overtaken(l) // before the close, so that who sees that can rely on the verdict
			_ = up.Close()
		},
		Probe: true,
		Hedge: true,
		After: after,
	}
}

// answerTimeout bounds what is written to a client that may not read.
const answerTimeout = 5 * time.Second

// hello says that the tunnel is open, in one write with what already came back.
// A client that reads nothing must not hold the proxy: no sweep knows of it yet.
func hello(c net.Conn, up *upstream.Conn, l *pool.Lease, answers Answers) error {
	_ = c.SetWriteDeadline(time.Now().Add(answerTimeout))
	_, err := c.Write(append(answers.Opened(make([]byte, 0, 256), l), up.Early...))
	_ = c.SetWriteDeadline(time.Time{})
	return err
}

// refuse tells the client why there is no tunnel.
func refuse(c net.Conn, id string, err error, answers Answers) Result {
	e, ok := err.(*reply.Error)
	if !ok {
		return Result{Status: ClientLeft, Code: "client_gone"}
	}
	_ = c.SetWriteDeadline(time.Now().Add(answerTimeout))
	_, _ = c.Write(answers.Refused(nil, id, e))
	return Result{Status: e.Status, Code: e.Code, Reason: e.Text}
}
