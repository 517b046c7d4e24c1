package daemon

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/config"
)

// TestProxiesThatAreDueTogetherAreNotWokenTogether: after a night's pause all
// of a dead pool is due in one instant. However many clients there are, the
// probes keep to their rate.
func TestProxiesThatAreDueTogetherAreNotWokenTogether(t *testing.T) {
	t.Parallel()
	const members, clients, observed = 5000, 64, 2 * time.Second
	var met atomic.Int64
	dead := scripted(t, "no proxy at all\r\n\r\n", func() { met.Add(1) })
	lines := make([]string, members)
	for i := range lines {
		lines[i] = fmt.Sprintf("http://user%d:x@%s", i, dead)
	}
	r := newRig(t, lines...)
	r.cfg.Log.Level = "error"
	r.cfg.Breaker.OpenTimeout = config.Duration(time.Minute)
	r.start()
	r.stop()
	r.allDue()
	r.start()
	began := time.Now()
	r.ask(clients, observed)
	took := time.Since(began).Seconds()
	rate := r.cfg.Restart.ProbeRate + members/100
	probes := float64(met.Load())
	t.Logf("%v probes in %.1fs", probes, took)
	if most := rate * (took + 1); probes > most {
		t.Errorf("%v probes in %.1fs, want at most %v a second", probes, took, rate)
	}
	if least := rate * observed.Seconds() / 4; probes < least {
		t.Errorf("%v probes in %.1fs: at that rate the pool never comes back", probes, took)
	}
}

// allDue gives every member a row of a rest that is over.
func (r *rig) allDue() {
	r.t.Helper()
	r.database(func(db *sql.DB) {
		tx, err := db.Begin()
		if err != nil {
			r.t.Fatal(err)
		}
		now := float64(time.Now().Unix())
		for _, m := range r.pool.Proxies() {
			_, err := tx.Exec(`INSERT INTO circuit_breaker_states (proxy_id, state, failure_window_json, next_test_time, last_state_change, updated_at, opens_in_row, cause)
				VALUES (?, 'open', '[]', ?, ?, ?, 3, 'run')`, string(m.ID), now-60, now-120, now-120)
			if err != nil {
				r.t.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			r.t.Fatal(err)
		}
	})
}

// ask lets clients ask for tunnels, one after the other, for a while.
func (r *rig) ask(clients int, while time.Duration) {
	ctx, cancel := context.WithTimeout(r.t.Context(), while)
	defer cancel()
	var working sync.WaitGroup
	for i := range clients {
		working.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				target := net.JoinHostPort(fmt.Sprintf("t%d-%d.test", i, n), "443")
				if _, err := connect(r.Addr().String(), target); err != nil {
					r.t.Error(err)
					return
				}
			}
		})
	}
	working.Wait()
}
