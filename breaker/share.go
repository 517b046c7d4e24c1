package breaker

import "time"

// Standing is where a breaker stands, as others who judge the same proxy can take
// it over. The zero value is a closed breaker that never changed.
type Standing struct {
	State      State
	At         time.Time // when it began; zero if the state never changed
	Until      time.Time // not closed: when the rest is, or was, over
	Rule       Rule
	OpensInRow int
	ProbeWins  int
}

// Share is what a breaker has to say to others who judge the same proxy.
type Share struct {
	// Edition grows with every change of the standing, own or adopted.
	Edition  uint32
	Standing Standing

	// What happened here since the Share before, on a closed breaker. The first
	// one after a quiet time tells of the whole window.
	Failures []time.Time // oldest first, those of a run that no success ended
	Window   []Tally

	LastSuccess time.Time // anybody's; zero if there was none
	Succeeded   bool      // it has succeeded, ever
	// Pending says that there is going to be more: the proxy has failed lately, and
	// from now on its successes are told too.
	Pending bool
}

// Share returns what others do not know yet, once: the caller has to keep what
// it cannot deliver. It allocates.
func (b *Breaker) Share(now time.Time) Share {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := momentOf(now) // and not begin: somebody has to be told of a lost probe, and the next call that returns an Effect does that
	m := &b.m
	s := Share{
		Edition: m.edition, Standing: m.standing(n),
		LastSuccess: n.wall(m.proved), Succeeded: m.record.proven,
	}
	if m.state == Closed {
		m.tell(&s, n)
	}
	return s
}

// Standing returns where the breaker stands, the edition of that (see Share), and
// whether a probe is in flight.
func (b *Breaker) Standing(now time.Time) (s Standing, edition uint32, probing bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := momentOf(now)
	return b.m.standing(n), b.m.edition, b.m.probe.out() && n.at < b.m.probe.gate
}

func (m *machine) standing(n moment) Standing {
	return Standing{
		State: m.state, At: n.wall(m.since), Until: n.wall(m.until),
		Rule: m.rule, OpensInRow: int(m.opensInRow), ProbeWins: int(m.wins),
	}
}

// tell hands out what is untold. With nothing against the proxy any more there
// is nothing further to be told.
func (m *machine) tell(s *Share, n moment) {
	held := m.held(n.at)
	suspect := held.failures > 0 || m.runLength(n.at) > 0
	if m.kin == nil {
		if !suspect {
			return
		}
		m.acquaint(n)
	}
	for _, t := range m.kin.untoldFailures {
		if t > m.proved {
			s.Failures = append(s.Failures, n.wall(t))
		}
	}
	s.Window = m.kin.untoldWindow
	if u := m.kin.untold; u.total > 0 {
		s.Window = append(s.Window, Tally{At: n.now.Round(0), Successes: int(u.total - u.failures), Failures: int(u.failures)})
	}
	m.kin.untoldFailures, m.kin.untoldWindow, m.kin.untold = nil, nil, tally{}
	if s.Pending = suspect; !suspect {
		m.kin = nil
	}
}

// Adopt has the breaker stand where another one stands, if its own standing is
// still of the given edition; else nothing happens and ok is false. It returns the
// edition that it has then. The caller knows which of the two is newer. Permits
// granted before are stale, unless both are closed: then there is nothing to adopt.
//
// A half_open breaker is adopted as an open one whose rest is over: its probe is
// somebody else's. A rest is never longer than one that is restored.
func (b *Breaker) Adopt(s Standing, edition uint32, now time.Time) (e Effect, adopted uint32, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := momentOf(now)
	if b.m.edition != edition {
		return Effect{}, 0, false
	}
	b.m.adopt(s, n, &e)
	b.publish(n)
	return e, b.m.edition, true
}

func (m *machine) adopt(s Standing, n moment, e *Effect) {
	at := n.past(s.At)
	opens := int32(between(0, s.OpensInRow, maxOpensInRow))
	switch {
	case s.State == Closed && m.state == Closed:
		return
	case s.State == Closed:
		m.opensInRow = opens
		m.closeAt(at, n, e)
		return
	}
	snap := Snapshot{State: s.State, NextTest: s.Until, Rule: s.Rule}
	m.until, m.rule, m.opensInRow = m.restored(snap, n), s.Rule, opens
	m.wins, m.probe = int32(between(0, s.ProbeWins, m.settings.Value().ProbeSuccesses-1)), noProbe(never)
	if m.state != Open {
		m.move(Open, s.Rule, at, n, e)
		return
	}
	m.since, e.Changed = at, true
	m.renew()
	m.edition++
}
