package front

import (
	"bufio"
	"net"
	"sync"
	"testing"
	"time"
)

func TestShutdownLetsTunnelsFinishAndThenCutsThem(t *testing.T) {
	r := newRig(t)
	r.start(r.proxy(tunnels).addr())
	quick, stuck := r.connect(target), r.connect(target)
	stopped := make(chan int, 1)
	go func() { stopped <- r.shutdown(300 * time.Millisecond) }()
	eventually(t, "nobody is let in", func() bool {
		c, err := net.Dial("tcp", r.addr)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	quick.send("still there")
	quick.expect("still there")
	_ = quick.CloseWrite()
	quick.expectEnd()
	stuck.send("too")
	stuck.expect("too")
	if cut := <-stopped; cut != 1 {
		t.Errorf("%d connections were cut", cut)
	}
	stuck.expectEnd()
}

func TestShutdownWithTunnelsThatStream(t *testing.T) {
	r := newRig(t)
	p := r.proxy(func(c *peer) {
		c.head()
		c.send(ok200)
		for chunk := make([]byte, 64<<10); ; {
			if _, err := c.Write(chunk); err != nil {
				return
			}
		}
	})
	r.start(p.addr())
	var readers sync.WaitGroup
	for range 10 {
		c := r.connect(target)
		readers.Go(func() {
			for buf := make([]byte, 64<<10); ; {
				if _, err := c.br.Read(buf); err != nil {
					return
				}
			}
		})
	}
	if cut := r.shutdown(100 * time.Millisecond); cut != 10 {
		t.Errorf("%d connections were cut", cut)
	}
	readers.Wait()
}

func TestShutdownDoesNotWaitForIdleConnections(t *testing.T) {
	r := newRig(t)
	r.start(r.proxy(func(c *peer) {
		for c.head() != "" {
			c.send("HTTP/1.1 200 OK\r\nDate: now\r\nServer: o\r\nContent-Length: 2\r\n\r\nok")
		}
	}).addr())
	r.dial() // asks nothing
	kept := r.dial()
	kept.send("GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\n\r\n")
	kept.skipResponse("ok")
	eventually(t, "both are known", func() bool { return r.front.Connections() == 2 })
	began := time.Now()
	if cut := r.shutdown(patience); cut != 0 {
		t.Errorf("%d connections were cut", cut)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("stopped after %v", took)
	}
}

// TestShutdownBetweenTwoRequests has connections that turn idle in the very
// moment of the shutdown.
func TestShutdownBetweenTwoRequests(t *testing.T) {
	for range 10 {
		t.Run("", func(t *testing.T) {
			r := newRig(t)
			r.start(r.proxy(func(c *peer) {
				for c.head() != "" {
					c.send("HTTP/1.1 200 OK\r\nDate: now\r\nServer: o\r\nContent-Length: 2\r\n\r\nok")
				}
			}).addr())
			var clients sync.WaitGroup
			for range 8 {
				c := r.dial()
				clients.Go(func() {
					defer c.Close()
					for buf := make([]byte, 4<<10); ; {
						if _, err := c.Write([]byte("GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\n\r\n")); err != nil {
							return
						}
						if _, err := c.br.Read(buf); err != nil {
							return
						}
					}
				})
			}
			eventually(t, "they are at it", func() bool { return len(r.exchanges()) > 50 })
			began := time.Now()
			if cut := r.shutdown(patience); cut != 0 || time.Since(began) > 5*time.Second {
				t.Errorf("cut %d after %v", cut, time.Since(began))
			}
			clients.Wait()
		})
	}
}

// TestConnectionThatTurnsIdleAfterTheShutdownEnds is the moment that the test
// above cannot hit at will: Shutdown came by when the connection was busy.
func TestConnectionThatTurnsIdleAfterTheShutdownEnds(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	c := &client{front: &Front{stopping: true}, br: bufio.NewReader(near)}
	waiting := make(chan bool, 1)
	go func() { waiting <- c.awaitRequest() }()
	select {
	case ok := <-waiting:
		if ok {
			t.Error("a request came from nowhere")
		}
	case <-time.After(patience):
		t.Error("it waits for a request that nobody will serve")
	}
}

func TestTunnelsWithOneSideGoneAreReaped(t *testing.T) {
	const count = 200
	r := newRig(t)
	r.idle = 20 * time.Millisecond // bounds the drain as well
	ended := make(chan struct{})
	p := r.proxy(func(c *peer) {
		c.head()
		c.send(ok200)
		c.drain() // sees the client's FIN, and then neither writes nor closes
		<-ended
	})
	r.start(p.addr())
	for range count {
		c := r.connect(target)
		_ = c.Close()
	}
	r.sweep()
	eventually(t, "the tunnels are ended", func() bool { return r.registry.Len() == 0 })
	close(ended)
}

func TestIdleTunnelsAreEndedAndBusyOnesAreNot(t *testing.T) {
	r := newRig(t)
	r.idle = time.Second
	r.start(r.proxy(tunnels).addr())
	idle, busy := r.connect(target), r.connect(target)
	eventually(t, "both are known", func() bool { return r.registry.Len() == 2 })
	r.sweep()
	eventually(t, "the idle tunnel is ended", func() bool {
		busy.send("x")
		busy.expect("x")
		return r.registry.Len() == 1
	})
	idle.expectEnd()
	busy.send("y")
	busy.expect("y")
}
