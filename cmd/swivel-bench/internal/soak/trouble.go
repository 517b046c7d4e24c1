package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"swivel/cmd/swivel-bench/internal/peer"
)

// flap changes the mood of upstreams, half of the time to well.
func (r *Run) flap(ctx context.Context) error {
	flappy := r.upstreams[sound:]
	for pause(ctx, r.plan.Moods/time.Duration(len(flappy))) {
		m := well
		if rand.N(2) == 0 {
			m = 1 + rand.N(moods-1)
		}
		if err := flappy[rand.N(len(flappy))].become(m); err != nil {
			return fmt.Errorf("an upstream cannot come back: %w", err)
		}
	}
	return nil
}

// reload changes the list and has it read.
func (r *Run) reload(ctx context.Context, p *peer.Running) error {
	for pause(ctx, r.plan.Lists) {
		r.reloads++
		if err := r.writeList(r.reloads); err != nil {
			return err
		}
		if err := post(ctx, "http://"+p.Admin+"/api/v1/reload"); err != nil && ctx.Err() == nil {
			return fmt.Errorf("reload: %w", err)
		}
	}
	return nil
}

// writeList writes the list of a generation, in one step. All upstreams are in
// it in two protocols, and under some names that change.
func (r *Run) writeList(generation int) error {
	var text strings.Builder
	for i, u := range r.upstreams {
		fmt.Fprintf(&text, "http://%s name=http-%d weight=2\nsocks5://%s name=socks-%d\n", u.hostPort, i, u.hostPort, i)
		for n := range 3 {
			fmt.Fprintf(&text, "http://user%d:pass@%s name=user-%d-%d\n", generation+n, u.hostPort, generation+n, i)
		}
	}
	next := r.list + ".next"
	if err := os.WriteFile(next, []byte(text.String()), 0o644); err != nil {
		return err
	}
	return os.Rename(next, r.list)
}

// Said is what was done to the pool, in one line.
func (r *Run) Said() string {
	var changes int64
	for _, u := range r.upstreams {
		changes += u.changes.Load()
	}
	return fmt.Sprintf("%d changes of mood, %d reloads", changes, r.reloads)
}
