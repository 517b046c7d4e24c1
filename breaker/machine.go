package breaker

import (
	"time"
	"unique"
)

// machine is the state machine without its lock. Its methods are called with
// Breaker.mu held, or on a copy; begin comes first, to bring it up to date.
type machine struct {
	settings unique.Handle[Settings] // most breakers of a pool have the same
	random   func() float64

	// The small fields stand together: there may be a hundred thousand machines.
	state      State
	rule       Rule // of the last opening, RuleRecovered after it closed again
	record     record
	pace       pace   // kept while open, as run, window and history are
	generation uint32 // of the permits whose results count; never 0, that is the zero Permit's
	opensInRow int32
	wins       int32   // probes in a row that succeeded
	edition    uint32  // grows with every change of what Standing says
	since      instant // of the last change of state
	until      instant // when the rest is, or was, over
	proved     instant // the last success, anybody's

	// Kept while open, to be seen; cleared on closing.
	run     run
	window  window // empty if Settings.Outcomes make it one of the history
	history history
	kin     *kin // nil: nothing is known of others

	probe probe
}

func newMachine(s Settings, random func() float64) machine {
	return machine{
		settings:   unique.Make(s),
		random:     random,
		generation: 1,
		since:      never,
		until:      never,
		proved:     never,
		window:     newWindow(s.Window),
		probe:      noProbe(never),
	}
}

// begin turns now into a moment and does what time alone has done: it forgets
// the opens in a row, and fails a probe whose lease has expired. A breaker that
// re-opens within one window has not recovered, it was only let off: its rest
// goes on growing.
func (m *machine) begin(now time.Time) (moment, Effect) {
	n := momentOf(now)
	var e Effect
	if m.state == Closed && n.at >= m.since.add(m.settings.Value().Window) {
		m.opensInRow = 0
	}
	if m.probe.out() && n.at >= m.probe.gate {
		m.opensInRow++
		m.record.miss()
		m.open(RuleProbe, m.probe.gate, m.probe.lapse, n, &e)
	}
	return n, e
}

// acquire grants a permit or refuses.
func (m *machine) acquire(lease time.Duration, n moment, e *Effect) (Permit, bool) {
	if m.state == Closed {
		return Permit{generation: m.generation}, true
	}
	if n.at < m.gate() { // a probe in flight too: begin has dealt with expired ones
		return Permit{}, false
	}
	if m.state == Open {
		m.move(HalfOpen, RuleDue, n.at, n, e)
	}
	return m.grant(lease, n), true
}

// honours reports whether the result of p still counts. No permit has the
// generation of an open breaker; that of a probe is spent with its first result,
// although the generation stays the same.
func (m *machine) honours(p Permit) bool {
	return p.generation == m.generation && p.probe == m.probe.out()
}

// gate is the instant before which acquire refuses. An expired lease opens the
// gate although acquire will then find the breaker open: somebody has to come by
// to notice.
func (m *machine) gate() instant {
	switch {
	case m.state == Closed:
		return never
	case m.state == Open:
		return m.until
	case m.probe.out():
		return m.probe.gate
	default:
		// Not before the state began: only a closed breaker's gate is never.
		return max(m.probe.gate, m.since)
	}
}

// trip opens the breaker for a failure: the rest is the next longer one, unless
// the proxy is alone.
func (m *machine) trip(rule Rule, alone bool, n moment, e *Effect) {
	if !alone {
		m.opensInRow++
	}
	m.openFor(m.settings.Value().rest(int(m.opensInRow)), rule, n, e)
}

// openFor opens the breaker for rest and jitter, from now on.
func (m *machine) openFor(rest time.Duration, rule Rule, n moment, e *Effect) {
	m.open(rule, n.at, n.at.add(m.jittered(rest)), n, e)
}

// obey opens the breaker as the proxy itself asked for. That is a message and
// no fault: it neither counts as an open in a row nor rests longer for those.
func (m *machine) obey(v Verdict, n moment, e *Effect) {
	if v.Outcome == Refused {
		m.openFor(m.settings.Value().RefusedTimeout, RuleRefused, n, e)
		return
	}
	rest := v.Rest
	if rest <= 0 {
		rest = m.settings.Value().OpenTimeout
	}
	m.openFor(min(rest, m.settings.Value().MaxOpenTimeout), RuleThrottled, n, e)
}

func (m *machine) open(rule Rule, at, until instant, n moment, e *Effect) {
	m.until, m.rule, m.wins, m.probe = until, rule, 0, noProbe(never)
	m.move(Open, rule, at, n, e)
}

func (m *machine) close(n moment, e *Effect) {
	m.closeAt(n.at, n, e)
}

func (m *machine) closeAt(at instant, n moment, e *Effect) {
	m.move(Closed, RuleRecovered, at, n, e)
	m.until, m.rule, m.wins, m.probe = never, RuleRecovered, 0, noProbe(never)
	m.run.clear()
	m.window.clear()
	m.history, m.pace, m.kin = history{}, pace{}, nil
	m.proved = max(m.proved, at)
}

// move is the only place that changes the state.
func (m *machine) move(to State, rule Rule, at instant, n moment, e *Effect) {
	held := m.held(at)
	t := Transition{
		From: m.state, To: to, Rule: rule, At: n.time(at),
		Failures: m.runLength(at), Suspicions: int(m.run.suspicions),
		Rate: held.rate(), Samples: int(held.total),
	}
	if to == Open {
		t.Until = n.time(m.until)
	}
	m.state, m.since = to, at
	m.edition++
	m.renew()
	e.record(t)
}

// renew makes all permits granted so far stale.
func (m *machine) renew() {
	m.generation++
	if m.generation == 0 {
		m.generation = 1
	}
}

// jittered lengthens a rest at random, so that proxies that opened together are
// not tested together.
func (m *machine) jittered(rest time.Duration) time.Duration {
	if m.random == nil {
		return rest
	}
	r := m.random()
	if !(r >= 0 && r <= 1) { // NaN too
		return rest
	}
	return rest + time.Duration(float64(rest)*m.settings.Value().Jitter*r)
}
