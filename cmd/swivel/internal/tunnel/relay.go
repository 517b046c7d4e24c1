package tunnel

import (
	"errors"
	"io"
	"net"
	"sync/atomic"

	"swivel/pool/upstream/tcp"
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
	over := make(chan Traffic, 1)
	r.start(&pair{client: client, upstream: upstream}, upstream, o, func(t Traffic) { over <- t })
	return <-over
}

// relay is the two directions of a pair at work.
//
// Each begins on a goroutine whose stack has grown already, since what a first
// byte sets off goes deep. When the first bytes have passed,
// it goes on on a goroutine of its own: an idle tunnel holds two small stacks
// and nothing else.
type relay struct {
	registry *Registry
	*pair
	to       io.Writer // what the client sends
	observer Observer
	ended    func(Traffic)
	traffic  Traffic      // each direction counts its own
	left     atomic.Int32 // directions that have not ended
}

// start relays a pair whose upstream may be replaced; the client's bytes go to
// up. The client's direction begins on the goroutine of the caller, who gets it
// back when that has to wait. ended is called when both directions have ended and
// both connections are closed, maybe before start returns.
func (r *Registry) start(p *pair, up io.Writer, o Observer, ended func(Traffic)) {
	t := &relay{registry: r, pair: p, to: up, observer: o, ended: ended}
	t.left.Store(2)
	r.add(p)
	t.registry.workers.Go(t.down)
	t.up()
}

// leave is the end of one direction, and with the second one of the tunnel.
func (t *relay) leave() {
	if t.left.Add(-1) == 0 {
		t.registry.workers.Go(t.finish)
	}
}

func (t *relay) finish() {
	t.close()
	t.observer.Ended()
	t.registry.remove(t.pair)
	t.ended(t.traffic)
}

func (t *relay) down() {
	for {
		from, early := t.source()
		if len(early) > 0 && t.observer.Received(from) {
			n, _ := t.client.Write(early)
			t.traffic.Down += int64(n)
		}
		n, err := relayOneWay(t.client, from, func() bool { return t.observer.Received(from) })
		t.traffic.Down += n
		switch {
		case err == errBegun:
			go t.downOn(from)
			return
		case t.downEnded(from, err):
			t.leave()
			return
		}
	}
}

// downOn is the rest of down, when nothing is left to be found out by its bytes.
func (t *relay) downOn(from net.Conn) {
	n, err := relayOneWay(t.client, from, nil)
	t.traffic.Down += n
	if t.downEnded(from, err) {
		t.leave()
		return
	}
	t.registry.workers.Go(t.down)
}

// downEnded passes on that a connection of the upstream has ended; false if the
// tunnel goes on with another one.
func (t *relay) downEnded(from net.Conn, err error) bool {
	if t.current() != from {
		return false
	}
	switch ender(err) {
	case source:
		if t.observer.UpstreamEnded(from) {
			return false
		}
	case sink:
		t.observer.ClientEnded()
	}
	t.endDirection(t.client, err)
	return true
}

func (t *relay) up() {
	n, err := relayOneWay(t.to, t.client, func() bool { t.observer.Sent(); return true })
	t.traffic.Up += n
	if err == errBegun {
		go t.upOn()
		return
	}
	t.upEnded(err)
}

// upOn is the rest of up.
func (t *relay) upOn() {
	n, err := relayOneWay(t.to, t.client, nil)
	t.traffic.Up += n
	t.upEnded(err)
}

func (t *relay) upEnded(err error) {
	switch ender(err) {
	case source:
		t.observer.ClientEnded()
	case sink:
		t.observer.UpstreamEnded(t.current())
	}
	t.endDirection(t.current(), err)
	t.leave()
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

// endDirection passes an orderly end on as a half-close; anything else, and the
// second end, is the end of the tunnel.
func (p *pair) endDirection(dst net.Conn, err error) {
	if !isEOF(err) {
		p.close()
		return
	}
	second := p.halfClosed.Swap(true)
	if _, plain := dst.(tcp.Socket); !second || !plain { // to close TCP says it too
		closeWrite(dst)
	}
	if second {
		p.close()
	}
}

// relayOneWay relays until src ends. first is called before the first byte is
// passed on, and may forbid it; with it the relay ends with errBegun when it
// has passed some.
func relayOneWay(dst io.Writer, src net.Conn, first func() bool) (int64, error) {
	if from, ok := src.(tcp.Socket); ok {
		return copySocket(dst, from, first)
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
