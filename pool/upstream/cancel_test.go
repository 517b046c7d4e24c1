package upstream

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/leaktest"
)

// TestClientLeavesWhileConnecting: neither a descriptor nor a goroutine may be
// left of it, and the proxy is not to blame.
func TestClientLeavesWhileConnecting(t *testing.T) {
	for _, scheme := range []pool.Scheme{pool.HTTP, pool.HTTPS, pool.SOCKS4, pool.SOCKS5} {
		t.Run(scheme.String(), func(t *testing.T) {
			leaktest.Watch(t)
			arrived := make(chan struct{}, 100)
			addr := listen(t, func(c net.Conn) {
				defer c.Close()
				arrived <- struct{}{}
				_, _ = io.Copy(io.Discard, c)
			})
			d, p := patient(), specFor(scheme, addr, "")
			ctx, cancel := context.WithCancelCause(context.Background())
			ended := make(chan error)
			for range cap(arrived) {
				go func() {
					_, err := d.Tunnel(ctx, p, "a.test:80", 0)
					ended <- err
				}()
			}
			for range cap(arrived) {
				<-arrived
			}
			start := time.Now()
			cancel(errors.New("the client hung up"))
			for range cap(arrived) {
				if err := <-ended; SignalOf(err) != pool.ClientGone || !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			}
			if waited := time.Since(start); waited > time.Second {
				t.Errorf("took %v to stop", waited)
			}
		})
	}
}

func TestClientLeavesWhileDialling(t *testing.T) {
	leaktest.Watch(t)
	addr := blackHole(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer time.AfterFunc(20*time.Millisecond, cancel).Stop()
	_, err := patient().Tunnel(ctx, specFor(pool.HTTP, addr, ""), "a.test:80", 0)
	if SignalOf(err) != pool.ClientGone {
		t.Errorf("got %v", err)
	}
}

func TestClientLeavesWhileResolving(t *testing.T) {
	leaktest.Watch(t)
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	defer close(release)
	d := patient()
	d.names.lookup = func(context.Context, string) ([]netip.Addr, error) {
		cancel()
		<-release
		return nil, nil
	}
	_, err := d.Tunnel(ctx, &pool.Spec{Host: "proxy.test", Port: 1}, "a.test:80", 0)
	if SignalOf(err) != pool.ClientGone {
		t.Errorf("got %v", err)
	}
}

// TestCancelInTheLastMoment: a context that ends just as the handshake does
// must not poison a connection that is handed out.
func TestCancelInTheLastMoment(t *testing.T) {
	leaktest.Watch(t)
	addr := listen(t, func(c net.Conn) {
		defer c.Close()
		head := make([]byte, len(connectHead("a.test:80", "")))
		_, _ = io.ReadFull(c, head)
		_, _ = io.WriteString(c, okReply)
		_, _ = io.Copy(c, c)
	})
	d, p := patient(), specFor(pool.HTTP, addr, "")
	took := 200 * time.Microsecond
	for i := range 500 {
		ctx, cancel := context.WithCancel(context.Background())
		timer := time.AfterFunc(took*time.Duration(i%20)/10, cancel)
		conn, err := d.Tunnel(ctx, p, "a.test:80", 0)
		timer.Stop()
		cancel()
		if err != nil {
			if SignalOf(err) != pool.ClientGone {
				t.Fatalf("got %v", err)
			}
			continue
		}
		echo(t, conn)
		_ = conn.Close()
	}
}

func echo(t *testing.T, conn *Conn) {
	t.Helper()
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}
