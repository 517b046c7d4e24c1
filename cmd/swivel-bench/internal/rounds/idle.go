package rounds

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"swivel/cmd/swivel-bench/internal/load"
)

// idle opens n tunnels through one subject after the other: they take
// descriptors here too. What they hold counts beyond what the proxy holds once
// some tunnels have come and gone.
func idle(n int) func(context.Context, []*subject) error {
	return func(ctx context.Context, subjects []*subject) error {
		for _, s := range working(subjects) {
			s.figures, s.err = s.idle(ctx, n)
		}
		return ctx.Err()
	}
}

func (s *subject) idle(ctx context.Context, n int) ([]float64, error) {
	if err := s.comeAndGo(ctx); err != nil {
		return nil, err
	}
	kib, fds, err := s.memory(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	opened, err := s.open(ctx, n)
	defer closeAll(opened)
	if err != nil {
		return nil, fmt.Errorf("after %d of %d tunnels: %w", len(opened), n, err)
	}
	took := time.Since(began)
	kibNow, fdsNow, err := s.memory(ctx)
	if err != nil {
		return nil, err
	}
	tunnels := float64(len(opened))
	return []float64{(kibNow - kib) / tunnels, (fdsNow - fds) / tunnels, tunnels / took.Seconds()}, nil
}

// comeAndGo opens and closes some tunnels.
func (s *subject) comeAndGo(ctx context.Context) error {
	crowd := load.NewCrowd(clients, s.Addr, func(_ context.Context, c *load.Client) error { return c.Tunnel() })
	defer crowd.Close()
	_, _, err := crowd.Run(ctx, 10*clients)
	return err
}

// open opens n tunnels and uses each once.
func (s *subject) open(ctx context.Context, n int) (opened []net.Conn, err error) {
	var mu sync.Mutex
	crowd := load.NewCrowd(clients, s.Addr, func(_ context.Context, c *load.Client) error {
		if err := c.OpenTunnel(); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		opened = append(opened, c.Detach())
		return nil
	})
	defer crowd.Close()
	_, failed, err := crowd.Run(ctx, n)
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d failed", failed)
	}
	return opened, err
}

func closeAll(conns []net.Conn) {
	for _, c := range conns {
		_ = c.Close()
	}
}
