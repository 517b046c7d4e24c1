package tunnel

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"swivel/pool/upstream/tcp"
)

// watchAfter is how long an attempt runs before anybody looks whether the
// client is still there: most are over sooner, and then it costs one timer.
const watchAfter = 50 * time.Millisecond

// WatchGone cancels when the client closes its connection, until stop is
// called. Bytes that the client has sent stay unread. A client that closes
// only its writing side counts as gone: what it waits for cannot be told from
// what it has given up on, and other proxies decide likewise. Under TLS only the
// end of the connection below is one: nobody reads a close_notify meanwhile.
//
// Nothing may read from c between WatchGone and stop, which is to be called
// once.
func WatchGone(c net.Conn, cancel context.CancelFunc) (stop func()) {
	w := &watch{conn: tcp.Under(c), cancel: cancel}
	w.running.Add(1)
	w.timer = time.AfterFunc(watchAfter, w.run)
	return w.stop
}

type watch struct {
	conn    tcp.Socket
	cancel  context.CancelFunc
	timer   *time.Timer
	running sync.WaitGroup
	stopped atomic.Bool
}

func (w *watch) run() {
	defer w.running.Done()
	raw, err := w.conn.SyscallConn()
	if err != nil {
		return
	}
	err = raw.Read(func(fd uintptr) bool { return w.stopped.Load() || tcp.HungUp(int(fd)) })
	if err == nil && !w.stopped.Load() {
		w.cancel()
	}
}

// stop wakes the watcher by a deadline in the past and waits for it, so that
// the deadline can be lifted again. Mostly there is none yet.
func (w *watch) stop() {
	if w.timer.Stop() {
		return
	}
	w.stopped.Store(true)
	_ = w.conn.SetReadDeadline(time.Unix(1, 0))
	w.running.Wait()
	_ = w.conn.SetReadDeadline(time.Time{})
}
