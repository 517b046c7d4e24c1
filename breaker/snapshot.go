package breaker

import "time"

// Snapshot is what outlives the process: plain values for a database row. All
// times are wall-clock times without a monotonic reading. The zero value is a
// closed breaker without a history.
type Snapshot struct {
	State      State
	Generation uint32      // of the permits in use; grows with every transition
	Failures   []time.Time // failures of the run, oldest first, the newest ConsecutiveFailures of them; kept while open
	Suspicions int         // suspicions in a row; kept while open
	OpensInRow int         // openings that the length of the next rest depends on
	Rule       Rule        // why it last opened; RuleRecovered if it has closed since
	NextTest   time.Time   // when the rest is over, or was if half_open; zero if closed
	LastChange time.Time   // of the state; zero if there was none. A slow start begins with it
	ProbeWins  int         // successful probes in a row

	Window    []Tally // outcomes in a window of time, oldest first, at most twelve; kept while open
	Recent    string  // the last outcomes, oldest first, + for a success and - for a failure: five, or a window of outcomes; kept while open
	Succeeded bool    // it has succeeded, ever
	Misses    int     // failures before the first success, counted up to 3, by which the breaker is open if runs open it; 0 once it has succeeded
}

// Tally is how many outcomes there were in a part of the window.
type Tally struct {
	At                  time.Time // when the part began
	Successes, Failures int
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
		Suspicions: int(m.run.suspicions),
		OpensInRow: int(m.opensInRow),
		Rule:       m.rule,
		NextTest:   n.wall(m.until),
		LastChange: n.wall(m.since),
		ProbeWins:  int(m.wins),
		Window:     m.window.stored(n),
		Recent:     m.history.text(max(lately, m.settings.Value().Outcomes)),
		Succeeded:  m.record.proven,
		Misses:     int(m.record.misses),
	}
}

func (m *machine) storedRun(n moment) []time.Time {
	var times []time.Time
	for _, t := range m.run.failures {
		if !aged(t, n.at, m.settings.Value().RunWindow) {
			times = append(times, n.wall(t))
		}
	}
	return times
}

func (w *window) stored(n moment) []Tally {
	w.turn(n.at)
	var tallies []Tally
	for age := buckets - 1; age >= 0; age-- {
		if t, began := w.part(age); t.total > 0 {
			tallies = append(tallies, Tally{
				At: n.wall(began), Successes: int(t.total - t.failures), Failures: int(t.failures),
			})
		}
	}
	return tallies
}
