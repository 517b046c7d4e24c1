package breaker

import "time"

// probeSpacing is the least time between two probes of which the first decided
// nothing: clients that keep leaving must not turn a half_open proxy into one
// that is used like a closed one.
const probeSpacing = time.Second

// probe is the one test that a half_open breaker may have in flight.
type probe struct {
	granted instant // never: none is out
	gate    instant // no other one is granted before: out, it is when its lease is over
	lapse   instant // out: when the rest is over that follows an expired lease
}

// noProbe says that none is out, and that none is granted before gate.
func noProbe(gate instant) probe { return probe{granted: never, gate: gate} }

func (p *probe) out() bool { return p.granted != never }

// grant sends out a probe. Every probe has its own generation, so that one that
// was ignored or lost cannot speak for its successor.
//
// What a lost probe would cost is settled here and not when the loss is
// noticed: readers, who must not change anything, see the same rest then.
func (m *machine) grant(lease time.Duration, n moment) Permit {
	m.renew()
	expires := n.at.add(max(lease, 0))
	m.probe = probe{
		granted: n.at,
		gate:    expires,
		lapse:   expires.add(m.jittered(m.settings.Value().rest(int(m.opensInRow) + 1))),
	}
	return Permit{generation: m.generation, probe: true}
}

// judgeProbe takes the result of the probe in flight. Every outcome ends the
// probe, or the breaker would stay half_open for ever.
func (m *machine) judgeProbe(v Verdict, n moment, e *Effect) {
	switch v.Outcome {
	case Success:
		m.judgeWin(v, n, e)
	case Failure:
		m.judgeLoss(v, n, e)
	case Refused, Throttled:
		m.obey(v, n, e)
	default:
		m.probe = noProbe(m.probe.granted.add(probeSpacing))
	}
}

// judgeWin takes a probe that succeeded. One that was slow has failed: the
// proxy works, but the breaker may be open because it does so slowly.
func (m *machine) judgeWin(v Verdict, n moment, e *Effect) {
	m.record.prove()
	if m.settings.Value().slow(v.Latency) {
		m.trip(RuleProbe, v.Alone, n, e)
		return
	}
	e.Changed = true
	m.wins++
	m.edition++
	m.proved = n.at
	m.probe = noProbe(never)
	if int(m.wins) >= m.settings.Value().ProbeSuccesses {
		m.close(n, e)
	}
}

// judgeLoss takes a probe that failed. A mere suspicion re-opens without a
// longer rest: the target may have been at fault. After a rest that the proxy
// had asked for there may be no failure to take the length from; then it is the
// shortest.
func (m *machine) judgeLoss(v Verdict, n moment, e *Effect) {
	if !v.Suspected {
		m.record.miss()
	}
	m.trip(RuleProbe, v.Alone || v.Suspected, n, e)
}
