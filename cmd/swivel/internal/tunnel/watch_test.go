package tunnel

import (
	"context"
	"net"
	"testing"
	"time"

	"swivel/pool/upstream/leaktest"
)

func TestWatchNoticesAClientThatLeaves(t *testing.T) {
	for name, leave := range map[string]func(*net.TCPConn){
		"FIN":        func(c *net.TCPConn) { _ = c.Close() },
		"half-close": func(c *net.TCPConn) { _ = c.CloseWrite() },
		"RST":        reset,
	} {
		for when, early := range map[string]bool{"before it looks": true, "while it looks": false} {
			for what, text := range map[string]string{"silent": "", "with bytes unread": "hello"} {
				t.Run(name+" "+when+" "+what, func(t *testing.T) {
					leaktest.Watch(t)
					client, c := tcpPair(t)
					gone, cancel := context.WithCancel(context.Background())
					send(t, client, text)
					if early {
						leave(client)
					}
					stop := WatchGone(c, cancel)
					if !early {
						time.Sleep(2 * watchAfter)
						if gone.Err() != nil {
							t.Fatal("cancelled although the client is there")
						}
						leave(client)
					}
					select {
					case <-gone.Done():
					case <-time.After(patience):
						t.Fatal("nobody noticed")
					}
					stop()
					if name != "RST" { // which takes them away
						expect(t, c, text)
					}
				})
			}
		}
	}
}

func TestWatchThatIsStoppedLeavesTheConnectionAsItWas(t *testing.T) {
	for name, pause := range map[string]time.Duration{
		"before it looks": 0, "as it begins": watchAfter, "while it looks": 2 * watchAfter,
	} {
		t.Run(name, func(t *testing.T) {
			leaktest.Watch(t)
			client, c := tcpPair(t)
			gone, cancel := context.WithCancel(context.Background())
			defer cancel()
			send(t, client, "un")
			stop := WatchGone(c, cancel)
			time.Sleep(pause)
			send(t, client, "read")
			stop()
			if gone.Err() != nil {
				t.Error("stopping cancelled")
			}
			expect(t, c, "unread")
			go func() {
				time.Sleep(20 * time.Millisecond)
				send(t, client, "later")
			}()
			expect(t, c, "later") // no deadline was left behind
		})
	}
}

func TestWatchAgainstItsStop(t *testing.T) {
	leaktest.Watch(t)
	client, c := tcpPair(t)
	for i := range 40 {
		gone, cancel := context.WithCancel(context.Background())
		stop := WatchGone(c, cancel)
		time.Sleep(watchAfter - 100*time.Microsecond + time.Duration(i)*5*time.Microsecond)
		stop()
		if gone.Err() != nil {
			t.Fatal("stopping cancelled")
		}
		cancel()
		send(t, client, "x")
		expect(t, c, "x")
	}
}

func TestWatchOfAClosedConnectionEnds(t *testing.T) {
	leaktest.Watch(t)
	_, c := tcpPair(t)
	gone, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := WatchGone(c, cancel)
	time.Sleep(2 * watchAfter)
	_ = c.Close()
	stop()
	if gone.Err() != nil {
		t.Error("our own close was taken for the client's")
	}
}
