package soak

import (
	"bufio"
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// The moods of an upstream.
type mood int32

const (
	well    mood = iota
	dead         // the port refuses, and what was open is reset
	resets       // each connection, once it has asked
	slow         // answers late
	login        // wants a password
	garbage      // does not speak HTTP
	silent       // says nothing
	cutting      // well, but resets what is open now and then
	moods
)

// late is how late a slow upstream answers, and hung how long a silent one keeps
// a connection.
const (
	late = 400 * time.Millisecond
	hung = 30 * time.Second
)

// upstreamHost differs from 127.0.0.1, from which connections on the loopback
// leave by themselves: so none of those takes the port of one that is dead.
const upstreamHost = "127.0.6.1"

// upstream is a proxy that changes its mood, and all targets behind it.
type upstream struct {
	hostPort string // does not change
	ledger   *ledger
	mood     atomic.Int32
	changes  atomic.Int64

	mu       sync.Mutex
	listener net.Listener // nil while the port refuses
	conns    map[*visit]struct{}
	closed   bool
	serving  sync.WaitGroup
}

// visit is a connection to an upstream.
type visit struct {
	*net.TCPConn
	in *bufio.Reader
	up *upstream

	mu      sync.Mutex
	target  string // of the exchange that is under way, if any
	granted bool   // it is a tunnel, and open
}

func newUpstream(l *ledger) (*upstream, error) {
	u := &upstream{ledger: l, conns: map[*visit]struct{}{}}
	if err := u.open(upstreamHost + ":0"); err != nil {
		return nil, err
	}
	u.hostPort = u.listener.Addr().String()
	return u, nil
}

func (u *upstream) open(hostPort string) error {
	config := net.ListenConfig{KeepAlive: -1}
	ln, err := config.Listen(context.Background(), "tcp", hostPort)
	if err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.listener = ln
	u.serving.Go(func() { u.accept(ln) })
	return nil
}

func (u *upstream) accept(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return // closed; descriptors there are enough
		}
		v := &visit{TCPConn: c.(*net.TCPConn), in: bufio.NewReader(c), up: u}
		u.mu.Lock()
		closed := u.closed
		u.conns[v] = struct{}{}
		u.mu.Unlock()
		if closed {
			_ = c.Close()
		}
		u.serving.Go(func() {
			v.serve()
			_ = c.Close()
			u.mu.Lock()
			delete(u.conns, v)
			u.mu.Unlock()
		})
	}
}

// become changes the mood.
func (u *upstream) become(m mood) error {
	before := mood(u.mood.Swap(int32(m)))
	if before != m {
		u.changes.Add(1)
	}
	switch {
	case m == dead && before != dead:
		u.mu.Lock()
		_ = u.listener.Close()
		u.mu.Unlock()
		u.cut(1)
	case m != dead && before == dead:
		return u.open(u.hostPort)
	case m == cutting:
		u.cut(.5)
	}
	return nil
}

// cut resets a share of the connections.
func (u *upstream) cut(share float64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for v := range u.conns {
		if rand.Float64() < share {
			v.reset("cut")
		}
	}
}

// close ends everything.
func (u *upstream) close() {
	u.mu.Lock()
	u.closed = true
	_ = u.listener.Close()
	for v := range u.conns {
		_ = v.Close()
	}
	u.mu.Unlock()
	u.serving.Wait()
}

// begin notes what the connection is used for.
func (v *visit) begin(target string) {
	v.mu.Lock()
	v.target = target
	v.mu.Unlock()
	if target != "" {
		v.up.ledger.asked(target)
	}
}

// grant says that the tunnel is open.
func (v *visit) grant(reply string) {
	v.mu.Lock()
	v.granted = true
	v.mu.Unlock()
	v.say(reply)
}

// reset ends the connection at once, and says so first.
func (v *visit) reset(what string) {
	v.spoil(what)
	_ = v.SetLinger(0)
	_ = v.Close()
}

// spoil says that what follows is no answer to what was asked.
func (v *visit) spoil(what string) {
	v.mu.Lock()
	target, granted := v.target, v.granted
	v.mu.Unlock()
	if target != "" {
		v.up.ledger.harmed(target, what, granted)
	}
}
