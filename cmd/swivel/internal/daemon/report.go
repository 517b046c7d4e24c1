package daemon

import (
	"time"

	"swivel/cmd/swivel/internal/admin"
	"swivel/pool"
	"swivel/storage"
)

// Report takes a client's word about a proxy, and says what it did; see
// [pool.Pool.Report].
func (d *Daemon) Report(r pool.Report) (until time.Time, counts bool) {
	until, counts, events := d.pool.Report(r, time.Now())
	d.sink(events)
	d.log.Info().Str("proxy", string(r.Proxy.ID)).Str("proxy_name", r.Proxy.Spec.Label()).Stringer("verdict", r.Verdict).
		Str("target", r.Target).Str("request", r.Request).Bool("counted", counts).Msg("reported")
	return until, counts
}

// ReloadOnSignal is a reload that a signal asks for.
func (d *Daemon) ReloadOnSignal() {
	const caller = "signal"
	if d.Audit(storage.Deed{At: time.Now(), Caller: caller, Action: "reload"}) != nil {
		return
	}
	if _, err := d.Reload(); err != nil { // the log says it, here and in Audit
		_ = d.Audit(admin.ReloadRefused(caller, err, time.Now()))
	}
}
