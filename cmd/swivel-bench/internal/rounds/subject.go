package rounds

import (
	"context"
	"time"

	"swivel/cmd/swivel-bench/internal/peer"
)

// subject is a proxy in one round.
type subject struct {
	*peer.Running
	figures []float64 // in the order of the workload's columns
	err     error     // why there are none
}

// working are those that nothing has gone wrong with yet.
func working(subjects []*subject) (some []*subject) {
	for _, s := range subjects {
		if s.err == nil {
			some = append(some, s)
		}
	}
	return some
}

// settle waits until what a proxy still does for a load that has ended is done:
// until read, polled every so often, stays within slack of what it was. After
// limit it is as good as it gets.
func settle(ctx context.Context, every, limit time.Duration, slack float64, read func() (float64, error)) (last float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	look := time.NewTicker(every)
	defer look.Stop()
	last, err = read()
	for err == nil {
		select {
		case <-ctx.Done():
			return last, nil
		case <-look.C:
		}
		before := last
		if last, err = read(); last-before <= slack && before-last <= slack {
			break
		}
	}
	return last, err
}

// cpu is the proxy's processor time once it has nothing left to do, in seconds.
// Two milliseconds in a hundred are what timers and a collector may take.
func (s *subject) cpu(ctx context.Context) (float64, error) {
	return settle(ctx, 100*time.Millisecond, 2*time.Second, .002, func() (float64, error) {
		used, err := s.CPU()
		return used.Seconds(), err
	})
}

// memory is what the proxy holds once that does not change by more than 256 KiB
// a half second any more: KiB, and descriptors.
func (s *subject) memory(ctx context.Context) (kib, fds float64, err error) {
	kib, err = settle(ctx, 500*time.Millisecond, 10*time.Second, 256, func() (float64, error) {
		u, err := s.Usage()
		fds = float64(u.FDs)
		return float64(u.RSS) / 1024, err
	})
	return kib, fds, err
}
