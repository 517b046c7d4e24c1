package metrics

import "time"

var (
	fleetUp        = desc("fleet_up", "1 while the server of the fleet answers. This and the others of the fleet only where there is one.")
	fleetAlone     = desc("fleet_alone", "1 while proxies are tested without leases, since the server has been silent.")
	fleetInstances = desc("fleet_instances", "Instances that the server has heard of lately, this one included.")
	fleetSilence   = desc("fleet_silence_seconds", "How long ago the server last answered; -1 if it never has.")
	fleetBehind    = desc("fleet_clock_behind_seconds", "How far this machine's clock is behind that of the server.")
	fleetLeases    = desc("fleet_leases", "Resting proxies that this instance and no other may test.")
	fleetPending   = desc("fleet_pending", "Proxies, sessions and more that the others are still to be told of.")
	fleetLag       = desc("fleet_lag_seconds", "How long the first of these has been waiting.")
	fleetCalls     = desc("fleet_calls_total", "Calls to the server.")
	fleetFailed    = desc("fleet_failed_calls_total", "Calls that it did not answer, or refused.")
	fleetTold      = desc("fleet_told_total", "Times that the others were told of a proxy.")
	fleetLearnt    = desc("fleet_learnt_total", "Times that something was learnt of a proxy from others.")
)

func (m *Metrics) collectFleet(out output, now time.Time) {
	s, enabled := m.sources.Fleet()
	if !enabled {
		return
	}
	flag := map[bool]float64{true: 1}
	silence := -1.0
	if !s.Answered.IsZero() {
		silence = now.Sub(s.Answered).Seconds()
	}
	out.gauge(fleetUp, flag[s.Up])
	out.gauge(fleetAlone, flag[s.Alone])
	out.gauge(fleetInstances, float64(s.Instances))
	out.gauge(fleetSilence, silence)
	out.gauge(fleetBehind, s.Behind.Seconds())
	out.gauge(fleetLeases, float64(s.Leases))
	out.gauge(fleetPending, float64(s.Pending))
	out.gauge(fleetLag, s.Lag.Seconds())
	out.counter(fleetCalls, s.Calls)
	out.counter(fleetFailed, s.Failures)
	out.counter(fleetTold, s.Told)
	out.counter(fleetLearnt, s.Learnt)
}
