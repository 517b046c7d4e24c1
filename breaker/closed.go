package breaker

// judgeClosed takes the result of an ordinary attempt.
func (m *machine) judgeClosed(v Verdict, n moment, e *Effect) {
	switch v.Outcome {
	case Success:
		m.succeed(v, n, e)
	case Failure:
		e.Changed = true
		if v.Suspected {
			m.suspect(v, n, e)
		} else {
			m.fail(v, n, e)
		}
	case Refused, Throttled:
		m.obey(v, n, e)
	}
}

func (m *machine) succeed(v Verdict, n moment, e *Effect) {
	redeemed, ended := m.record.prove(), m.run.clear()
	e.Changed = redeemed || ended
	m.count(false, n)
	if v.Latency > 0 && m.settings.Value().LatencyLimit > 0 && m.pace.add(m.settings.Value().slow(v.Latency)) {
		m.trip(RuleSlow, v.Alone, n, e)
	}
}

func (m *machine) fail(v Verdict, n moment, e *Effect) {
	m.record.miss()
	m.run.fail(n.at, m.settings.Value().RunWindow)
	m.count(true, n)
	held := m.held(n.at)
	switch {
	case m.settings.Value().tooLong(m.run.length(), &m.run, held):
		m.trip(RuleRun, v.Alone, n, e)
	case m.settings.Value().ConsecutiveFailures > 0 && m.record.hopeless():
		m.trip(RuleRun, v.Alone, n, e)
	case m.settings.Value().tooMany(held):
		m.trip(RuleRate, v.Alone, n, e)
	}
}

// suspect takes an ordinary attempt that stayed ambiguous. It is no outcome:
// the window does not count it.
func (m *machine) suspect(v Verdict, n moment, e *Effect) {
	m.run.suspicions++
	if m.settings.Value().tooLong(int(m.run.suspicions), &m.run, m.held(n.at)) {
		m.trip(RuleRun, v.Alone, n, e)
	}
}

func (m *machine) count(failed bool, n moment) {
	m.history.add(failed)
	if m.settings.Value().Outcomes == 0 {
		m.window.add(n.at, failed)
	}
}

// held returns what is in the window, of whichever kind it is.
func (m *machine) held(at instant) tally {
	if m.settings.Value().Outcomes > 0 {
		return m.history.last(m.settings.Value().Outcomes)
	}
	return m.window.at(at)
}

// tooMany reports whether the window holds too large a share of failures.
func (s Settings) tooMany(t tally) bool {
	return int(t.total) >= s.MinSamples && t.rate() >= s.ErrorRatio
}
