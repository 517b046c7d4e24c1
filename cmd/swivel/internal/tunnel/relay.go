package tunnel

import (
	"errors"
	"io"
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
	// Received: the first byte came back on the connection. False: the tunnel
	// has left that connection, and the byte is not passed on.
	Received(from net.Conn) bool
	// UpstreamEnded: the proxy closed or broke the connection, or at least its
	// sending side. It returns, maybe after a while, whether the tunnel goes on
	// with another one.
	UpstreamEnded(from net.Conn) (moved bool)
	// ClientEnded: the client did.
	ClientEnded()
	// Ended: the tunnel is over, whoever ended it.
	Ended()
}

// Relay passes bytes between client and upstream until both directions have
// ended, and closes both. It blocks.
func (r *Registry) Relay(client, upstream net.Conn, o Observer) Traffic {
	return r.relay(&pair{client: client, upstream: upstream}, upstream, o)
}

// relay is Relay for a pair whose upstream may be replaced. The client's bytes
// go to up.
func (r *Registry) relay(p *pair, up io.Writer, o Observer) Traffic {
	r.add(p)
	defer r.remove(p)
	var t Traffic
	down := make(chan struct{})
	go func() {
		defer close(down)
		t.Down = p.down(o)
	}()
	t.Up = p.up(up, o)
	<-down
	p.close()
	o.Ended()
	return t
}

func (p *pair) down(o Observer) (total int64) {
	for {
		from, early := p.source()
		if len(early) > 0 && o.Received(from) {
			n, _ := p.client.Write(early)
			total += int64(n)
		}
		n, err := relayOneWay(p.client, from, func() bool { return o.Received(from) })
		total += n
		if p.current() != from {
			continue
		}
		switch ender(err) {
		case source:
			if o.UpstreamEnded(from) {
				continue
			}
		case sink:
			o.ClientEnded()
		}
		p.finish(p.client, err)
		return total
	}
}

func (p *pair) up(to io.Writer, o Observer) int64 {
	n, err := relayOneWay(to, p.client, func() bool { o.Sent(); return true })
	switch ender(err) {
	case source:
		o.ClientEnded()
	case sink:
		o.UpstreamEnded(p.current())
	}
	p.finish(p.current(), err)
	return n
}

// end is the side that ended one direction.
type end uint8

const (
	us end = iota
	source
	sink
)

// ender says which side ended a direction; us, if it was closed here.
func ender(err error) end {
	if errors.Is(err, net.ErrClosed) {
		return us
	}
	if _, ok := errors.AsType[writeError](err); ok {
		return sink
	}
	return source
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

func relayOneWay(dst io.Writer, src net.Conn, first func() bool) (int64, error) {
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
func (Unobserved) Received(net.Conn) bool { return true }

// UpstreamEnded implements Observer.
func (Unobserved) UpstreamEnded(net.Conn) bool { return false }

// ClientEnded implements Observer.
func (Unobserved) ClientEnded() {}

// Ended implements Observer.
func (Unobserved) Ended() {}
