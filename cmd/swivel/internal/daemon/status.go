package daemon

import (
	"context"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/admin"
	"swivel/cmd/swivel/internal/traffic"
)

// Status is how the daemon does, beside its pool.
func (d *Daemon) Status() admin.Status {
	return admin.Status{
		Started: d.started, Connections: d.front.Connections(), ConnectionsLimit: d.cfg.Limits.Connections,
		RetryBudget: d.loop.RetryBudget(time.Now()), Journal: d.journal.Stats(),
		ErrorRatio: d.cfg.Breaker.ErrorRatio, LatencyLimit: time.Duration(d.cfg.Breaker.LatencyLimit),
	}
}

// Traffic is what clients got lately.
func (d *Daemon) Traffic() *traffic.Recorder { return d.traffic }

// sampleTraffic has the record note how things stand once a step, until ctx ends.
func (d *Daemon) sampleTraffic(ctx context.Context) {
	ticker := time.NewTicker(traffic.Step)
	defer ticker.Stop()
	for {
		d.traffic.Sample(d.gauges(), time.Now())
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (d *Daemon) gauges() traffic.Gauges {
	g := traffic.Gauges{Connections: d.front.Connections()}
	usable, all := 0.0, 0.0
	for _, m := range d.pool.Proxies() {
		all += m.Spec.Weight
		if m.Usable() {
			usable += m.Spec.Weight
		}
	}
	if all > 0 {
		g.Usable = usable / all
	}
	for _, outcomes := range d.pool.Settled() {
		failed := outcomes[breaker.Failure] + outcomes[breaker.Refused]
		g.Attempts += outcomes[breaker.Success] + failed
		g.AttemptsFailed += failed
	}
	return g
}
