package breaker

import (
	"slices"
	"time"
)

// maxOpensInRow bounds what Restore believes. Long before it the rest has
// reached its maximum.
const maxOpensInRow = 1 << 20

// Snapshot is what outlives the process: plain values for a database row. All
// times are wall-clock times without a monotonic reading. The zero value is a
// closed breaker without a history.
type Snapshot struct {
	State      State
	Generation uint32      // of the permits in use; grows with every transition
	Failures   []time.Time // failures of the run, oldest first; kept while open
	Suspicions int         // suspicions in a row; kept while open
	OpensInRow int         // openings that the length of the next rest depends on
	Rule       Rule        // why it last opened; RuleRecovered if it has closed since
	NextTest   time.Time   // when the rest is over, or was if half_open; zero if closed
	LastChange time.Time   // of the state; zero if there was none
	ProbeWins  int         // successful probes in a row
}

// Snapshot returns the state as of now. It allocates.
func (b *Breaker) Snapshot(now time.Time) Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock() // held throughout: the copy shares the failures
	m := b.m
	n, _ := m.begin(now)
	return Snapshot{
		State:      m.state,
		Generation: m.generation,
		Failures:   m.storedRun(n),
		Suspicions: m.run.suspicions,
		OpensInRow: m.opensInRow,
		Rule:       m.rule,
		NextTest:   n.wall(m.until),
		LastChange: n.wall(m.since),
		ProbeWins:  m.wins,
	}
}

func (m *machine) storedRun(n moment) []time.Time {
	var times []time.Time
	for _, t := range m.run.failures {
		if !aged(t, n.at, m.settings.RunWindow) {
			times = append(times, n.wall(t))
		}
	}
	return times
}

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
//     takes another failure to open.
//
// Values that no breaker would have written are replaced by harmless ones; an
// unknown state is taken for closed. About s and random see New.
func Restore(s Settings, snap Snapshot, random func() float64, now time.Time) *Breaker {
	b := New(s, random)
	m := &b.m
	n, _ := m.begin(now)
	m.generation = snap.Generation
	m.renew()
	m.since = n.past(snap.LastChange)
	m.opensInRow = between(0, snap.OpensInRow, maxOpensInRow)
	if int(snap.Rule) < len(ruleNames) {
		m.rule = snap.Rule
	}
	longest := m.settings.ConsecutiveFailures - 1
	if snap.State == Open || snap.State == HalfOpen {
		longest++
		m.state = Open
		m.until = m.restored(snap, n)
		m.wins = between(0, snap.ProbeWins, m.settings.ProbeSuccesses-1)
	}
	m.run.suspicions = between(0, snap.Suspicions, longest)
	m.recall(snap.Failures, longest, n)
	b.publish()
	return b
}

// restored returns when the rest of a stored breaker is over.
func (m *machine) restored(snap Snapshot, n moment) instant {
	left := n.ahead(snap.NextTest)
	if snap.State == HalfOpen || left <= 0 {
		return n.past(snap.NextTest)
	}
	longest := m.settings.MaxOpenTimeout
	if snap.Rule == RuleRefused {
		longest = max(longest, m.settings.RefusedTimeout)
	}
	if left > longest+time.Duration(float64(longest)*m.settings.Jitter) {
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
		if at := n.past(t); !aged(at, n.at, m.settings.RunWindow) {
			recent = append(recent, at)
		}
	}
	slices.Sort(recent)
	m.run.failures = append(m.run.failures, recent[max(0, len(recent)-longest):]...)
}

func between(low, v, high int) int { return max(low, min(v, high)) }
