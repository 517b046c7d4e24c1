package tunnel

import (
	"errors"
	"net"
)

// Traffic is what a relay moved, in bytes.
type Traffic struct {
	Up, Down int64
}

// Observer is told what a tunnel's first bytes say about its proxy. The calls
// come from the relay's goroutines, possibly at the same time.
type Observer interface {
	// Sent: the client's first bytes were read and go upstream now.
	Sent()
	// Received: the first byte came back.
	Received()
	// UpstreamEnded: the proxy closed or broke the tunnel, or at least its
	// sending side.
	UpstreamEnded()
	// ClientEnded: the client did.
	ClientEnded()
	// Ended: the tunnel is over, whoever ended it.
	Ended()
}

// Relay passes bytes between client and upstream until both directions have
// ended, and closes both. It blocks.
func (r *Registry) Relay(client, upstream net.Conn, o Observer) Traffic {
	p := &pair{client: client, upstream: upstream}
	r.add(p)
	defer r.remove(p)
	var t Traffic
	down := make(chan struct{})
	go func() {
		defer close(down)
		t.Down = p.down(o)
	}()
	t.Up = p.up(o)
	<-down
	p.close()
	o.Ended()
	return t
}

func (p *pair) down(o Observer) int64 {
	n, err := relayOneWay(p.client, p.upstream, o.Received)
	report(err, o.UpstreamEnded, o.ClientEnded)
	p.finish(p.client, err)
	return n
}

func (p *pair) up(o Observer) int64 {
	n, err := relayOneWay(p.upstream, p.client, o.Sent)
	report(err, o.ClientEnded, o.UpstreamEnded)
	p.finish(p.upstream, err)
	return n
}

// report says which side ended a direction; nobody, if it was closed here.
func report(err error, source, sink func()) {
	if errors.Is(err, net.ErrClosed) {
		return
	}
	if _, ok := errors.AsType[writeError](err); ok {
		sink()
		return
	}
	source()
}

// finish passes an orderly end on as a half-close; anything else, and the
// second end, is the end of the tunnel.
func (p *pair) finish(dst net.Conn, err error) {
	if !isEOF(err) || p.halfClosed.Swap(true) {
		p.close()
		return
	}
	closeWrite(dst)
}

func relayOneWay(dst, src net.Conn, first func()) (int64, error) {
	if from, ok := src.(*net.TCPConn); ok {
		return copyTCP(dst, from, first)
	}
	return copyAny(dst, src, first)
}

// Unobserved is an Observer for tunnels whose verdict has fallen already.
type Unobserved struct{}

// Sent implements Observer.
func (Unobserved) Sent() {}

// Received implements Observer.
func (Unobserved) Received() {}

// UpstreamEnded implements Observer.
func (Unobserved) UpstreamEnded() {}

// ClientEnded implements Observer.
func (Unobserved) ClientEnded() {}

// Ended implements Observer.
func (Unobserved) Ended() {}
