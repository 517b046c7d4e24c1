package rounds

import (
	"context"
	"time"

	"swivel/cmd/swivel-bench/internal/load"
	"swivel/cmd/swivel-bench/internal/stats"
)

// sliced is a load on one subject that comes in slices, and what it took so far.
type sliced struct {
	*subject
	crowd  *load.Crowd
	before float64 // seconds of processor time
	wall   time.Duration
	times  []time.Duration
	failed int
}

// inSlices gives every subject n slices of per operations each, in turn, after
// one to warm up. The processor time that all slices took, in seconds, is handed
// to finish.
func inSlices(ctx context.Context, subjects []*subject, crowd int, n, per int, do func(context.Context, *load.Client) error, finish func(s *sliced, cpu float64)) error {
	var all []*sliced
	for _, s := range working(subjects) {
		one := &sliced{subject: s, crowd: load.NewCrowd(crowd, s.Addr, do)}
		defer one.crowd.Close()
		one.warm(ctx, per)
		all = append(all, one)
	}
	for _, s := range all { // once the others are warm, too
		s.start(ctx)
	}
	for slice := range n {
		for i := range all { // who comes first changes: it may have it easier
			all[(i+slice)%len(all)].slice(ctx, per)
		}
	}
	for _, s := range all {
		after, err := s.cpu(ctx)
		if s.err == nil {
			s.err = err
		}
		if s.err == nil {
			finish(s, after-s.before)
		}
	}
	return ctx.Err()
}

// warm lets the proxy allocate, learn and connect what it keeps.
func (s *sliced) warm(ctx context.Context, n int) {
	_, _, s.err = s.crowd.Run(ctx, n)
}

func (s *sliced) start(ctx context.Context) {
	if s.err == nil {
		s.before, s.err = s.cpu(ctx)
	}
}

func (s *sliced) slice(ctx context.Context, n int) {
	if s.err != nil {
		return
	}
	began := time.Now()
	times, failed, err := s.crowd.Run(ctx, n)
	s.wall += time.Since(began)
	s.times, s.failed, s.err = append(s.times, times...), s.failed+failed, err
}

// requests is a load of n operations of many clients.
func requests(n int, do func(context.Context, *load.Client) error) func(context.Context, []*subject) error {
	per := max(n/turns, 1)
	return func(ctx context.Context, subjects []*subject) error {
		return inSlices(ctx, subjects, clients, turns, per, do, func(s *sliced, cpu float64) {
			ms := func(q float64) float64 { return float64(stats.Quantile(s.times, q)) / float64(time.Millisecond) }
			ops := float64(len(s.times))
			s.figures = []float64{1e6 * cpu / ops, ops / s.wall.Seconds(), ms(.5), ms(.99), float64(s.failed)}
		})
	}
}

// transfers is a load of mib MiB through so many tunnels at once.
func transfers(mib, tunnels int) func(context.Context, []*subject) error {
	per := perTransfer(mib, tunnels)
	return func(ctx context.Context, subjects []*subject) error {
		do := func(ctx context.Context, c *load.Client) error { return c.Bulk(ctx, per) }
		return inSlices(ctx, subjects, tunnels, bulkTurns, tunnels, do, func(s *sliced, cpu float64) {
			moved := float64(len(s.times) * per)
			s.figures = []float64{cpu * 1024 / moved, moved / s.wall.Seconds()}
		})
	}
}

// perTransfer is how many MiB one tunnel carries, of mib in a whole round.
func perTransfer(mib, tunnels int) int { return max(mib/bulkTurns/tunnels, 1) }
