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
	redeemed, ended, others := m.record.prove(), m.run.clear(), m.kin.clear()
	e.Changed = redeemed || ended || others
	m.proved = n.at
	m.count(false, n)
	if v.Latency > 0 && m.settings.Value().LatencyLimit > 0 && m.pace.add(m.settings.Value().slow(v.Latency)) {
		m.trip(RuleSlow, v.Alone, n, e)
	}
}

func (m *machine) fail(v Verdict, n moment, e *Effect) {
	m.record.miss()
	m.run.fail(n.at, m.settings.Value().RunWindow, m.settings.Value().ConsecutiveFailures)
	m.count(true, n)
	m.judgeRun(v.Alone, n, e)
}

// judgeRun opens the breaker if there are too many failures by now.
func (m *machine) judgeRun(alone bool, n moment, e *Effect) {
	held, run := m.held(n.at), m.runLength(n.at)
	switch {
	case m.settings.Value().tooLong(run, run, held):
		m.trip(RuleRun, alone, n, e)
	case m.settings.Value().ConsecutiveFailures > 0 && m.hopeless(n.at):
		m.trip(RuleRun, alone, n, e)
	case m.settings.Value().tooMany(held):
		m.trip(RuleRate, alone, n, e)
	}
}

// runLength is how many failures there were since the last success, here and
// elsewhere.
func (m *machine) runLength(at instant) int {
	return m.run.length() + m.kin.length(at, m.settings.Value().RunWindow)
}

// hopeless counts the misses of others too.
func (m *machine) hopeless(at instant) bool {
	r := m.record
	for range min(maxMisses, m.kin.length(at, m.settings.Value().RunWindow)) {
		r.miss()
	}
	return r.hopeless()
}

// suspect takes an ordinary attempt that stayed ambiguous. It is no outcome:
// the window does not count it.
func (m *machine) suspect(v Verdict, n moment, e *Effect) {
	m.run.suspicions++
	if m.settings.Value().tooLong(int(m.run.suspicions), m.runLength(n.at), m.held(n.at)) {
		m.trip(RuleRun, v.Alone, n, e)
	}
}

func (m *machine) count(failed bool, n moment) {
	m.history.add(failed)
	if m.settings.Value().Outcomes == 0 {
		m.window.add(n.at, failed)
		m.kin.count(failed, n.at)
	}
}

// held returns what is in the window, of whichever kind it is: in one of time
// also what others saw.
func (m *machine) held(at instant) tally {
	if m.settings.Value().Outcomes > 0 {
		return m.history.last(m.settings.Value().Outcomes)
	}
	own, others := m.window.at(at), m.kin.held(at)
	return tally{own.total + others.total, own.failures + others.failures}
}

// tooMany reports whether the window holds too large a share of failures.
func (s Settings) tooMany(t tally) bool {
	return int(t.total) >= s.MinSamples && t.rate() >= s.ErrorRatio
}
