package breaker

import (
	"slices"
	"time"
)

// The most that Restore believes of a counter. Opens in a row have reached the
// maximum of the rest long before; outcomes of a bucket cannot overflow a sum.
const (
	maxOpensInRow = 1 << 20
	maxTally      = 1 << 24
)

// Restore returns a breaker that carries on where snap left off. It also serves
// to give a breaker other settings; all permits granted before are stale.
//
//   - open keeps the rest it has left by the wall clock, but never more than
//     MaxOpenTimeout (after a refusal RefusedTimeout, if that is longer) plus
//     jitter: a clock that was set back must not shut a proxy out for years.
//   - half_open becomes open with its rest over, since the probe died with its
//     process. Probes that had succeeded still count.
//   - closed keeps its run. Failures older than RunWindow are dropped, those in
//     the future are taken as of now, and the run is kept short enough that it
//     takes another failure to open. A slow start goes on.
//   - closed becomes open with its rest over where the proxy has failed three
//     times and never succeeded, if runs open: the snapshot is of settings by
//     which they did not, or of a breaker that knew no such rule. Left closed, it
//     would be picked too rarely for the one failure that it is short of.
//
// The window loses what is older than Window, and has what is in the future as
// of now. Of the latencies nothing is stored: two blocks begin anew.
//
// Values that no breaker would have written are replaced by harmless ones; an
// unknown state is taken for closed. About s and random see New.
func Restore(s Settings, snap Snapshot, random func() float64, now time.Time) *Breaker {
	b := new(Breaker)
	b.Resume(s, snap, random, now)
	return b
}

// Resume makes what Restore returns of a zero Breaker, as Begin makes what New
// does.
func (b *Breaker) Resume(s Settings, snap Snapshot, random func() float64, now time.Time) {
	b.Begin(s, random)
	m := &b.m
	n, _ := m.begin(now)
	m.generation = snap.Generation
	m.renew()
	m.since = n.past(snap.LastChange)
	m.opensInRow = int32(between(0, snap.OpensInRow, maxOpensInRow))
	if int(snap.Rule) < len(ruleNames) {
		m.rule = snap.Rule
	}
	m.record = record{proven: snap.Succeeded}
	for range between(0, snap.Misses, maxMisses) {
		m.record.miss()
	}
	m.history = readHistory(snap.Recent)
	if m.settings.Value().Outcomes == 0 {
		m.window.recall(snap.Window, n)
	}
	longest := max(0, m.settings.Value().ConsecutiveFailures-1)
	switch {
	case snap.State == Open || snap.State == HalfOpen:
		longest = m.settings.Value().ConsecutiveFailures
		m.state = Open
		m.until = m.restored(snap, n)
		m.wins = int32(between(0, snap.ProbeWins, m.settings.Value().ProbeSuccesses-1))
	case m.settings.Value().ConsecutiveFailures > 0 && m.record.hopeless():
		m.state, m.rule = Open, RuleRun
		m.since, m.until = n.at, n.at
	}
	m.run.suspicions = int32(between(0, snap.Suspicions, longest))
	m.recall(snap.Failures, longest, n)
	b.publish(n)
}

// restored returns when the rest of a stored breaker is over.
func (m *machine) restored(snap Snapshot, n moment) instant {
	left := n.ahead(snap.NextTest)
	if snap.State == HalfOpen || left <= 0 {
		if over := n.past(snap.NextTest); over != never {
			return over
		}
		return n.at // over since nobody knows when, which is no time to show or to store
	}
	longest := m.settings.Value().MaxOpenTimeout
	if snap.Rule == RuleRefused {
		longest = max(longest, m.settings.Value().RefusedTimeout)
	}
	if left > longest+time.Duration(float64(longest)*m.settings.Value().Jitter) {
		// Drawn anew and not cut: a pool that comes back with a wrong clock
		// would be due all in one instant.
		left = m.jittered(longest)
	}
	return n.at.add(left)
}

// recall takes the newest of the stored failures that still count.
func (m *machine) recall(failures []time.Time, longest int, n moment) {
	var recent []instant
	for _, t := range failures {
		if at := n.past(t); !aged(at, n.at, m.settings.Value().RunWindow) {
			recent = append(recent, at)
		}
	}
	slices.Sort(recent)
	if recent = recent[max(0, len(recent)-longest):]; len(recent) > 0 {
		m.run.failures = append(make([]instant, 0, m.settings.Value().ConsecutiveFailures), recent...)
	}
}

// recall takes those of the stored tallies that the window still reaches back
// to. One that began between two buckets, since the window is of another length
// now or the clock was set, goes to the younger of them.
func (w *window) recall(tallies []Tally, n moment) {
	w.began = never
	for _, t := range tallies {
		w.began = max(w.began, n.past(t.At))
	}
	for _, t := range tallies {
		began := n.past(t.At)
		if w.ends(began) <= n.at {
			continue
		}
		part, _ := w.part(int(began.until(w.began) / w.width))
		failures := uint32(between(0, t.Failures, maxTally))
		total := failures + uint32(between(0, t.Successes, maxTally))
		part.total, part.failures = part.total+total, part.failures+failures
		w.sum.total, w.sum.failures = w.sum.total+total, w.sum.failures+failures
	}
}

func between(low, v, high int) int { return max(low, min(v, high)) }
