package breaker

// sound is the success ratio from which on a proxy gets all of its share: some
// failures are everyday life.
const sound = 0.9

// leastHealth is that of a proxy that has worked before. It is not 0: only an
// attempt can find it well again.
const leastHealth = 0.1

// unproven is the health of a proxy that has never worked, by its failures. A
// list full of dead ones is learnt fast by this; a steeper descent would keep
// them short of the failures that open their breakers, and with them of the
// tests that find them well again.
var unproven = [maxMisses + 1]float64{1, 0.3, 0.1, 0.03}

// lately is how many outcomes health looks at when the window holds no more.
const lately = 5

// record is what a proxy has achieved in all its life. It outlives everything:
// most of what free lists hold has never worked, and must not be learnt anew.
type record struct {
	proven bool  // it has succeeded
	misses uint8 // failures before that, counted up to maxMisses
}

// maxMisses is how many failures of a proxy that has never worked open its
// breaker, where runs do.
const maxMisses = 3

// prove notes a success and reports whether it is the first.
func (r *record) prove() bool {
	first := !r.proven
	*r = record{proven: true}
	return first
}

func (r *record) miss() {
	if !r.proven && r.misses < maxMisses {
		r.misses++
	}
}

// hopeless says whether the proxy has had its chances. By then it is hardly
// picked any more, and would for ever be short of the failures that open a
// breaker: so it is opened now, and tested from time to time like the others.
func (r *record) hopeless() bool { return !r.proven && r.misses == maxMisses }

// health is a factor that holds until an instant, and the one after it. Both
// are right for as long as there are no more outcomes; readers, who may not turn
// the window, need no more.
type health struct {
	now   float64
	until instant // never: it holds for good
	later float64
}

// health judges the proxy by the window or by the last five outcomes,
// whichever are more. Those missing of five count as successes: after one
// failure a proxy is not yet worth a tenth.
//
// While nothing happens a bad window is held as it is until it has thinned out,
// which takes at most Settings.Window. Then the last five count, and they do so
// until there are others, since rarely used proxies never have more.
func (m *machine) health(n moment) health {
	if !m.record.proven {
		h := unproven[m.record.misses]
		return health{now: h, until: never, later: h}
	}
	held, last := m.held(n.at), m.history.last(lately)
	if held.failures == 0 && last.failures == 0 {
		return health{now: 1, until: never, later: 1}
	}
	last.total = lately
	h := health{until: never, later: share(last)}
	if h.now = h.later; held.total <= lately {
		return h
	}
	h.now = share(held)
	switch {
	case m.settings.Value().Outcomes > 0:
		h.later = h.now // does not age
	case h.now == h.later:
	case m.kin.held(n.at).total > 0:
		h.until = n.at.add(m.settings.Value().Window) // at the latest
	default:
		h.until = m.window.thins(lately)
	}
	return h
}

// share is the health of a proxy with such outcomes.
func share(t tally) float64 {
	ratio := 1 - t.rate()
	if ratio >= sound {
		return 1
	}
	return max(ratio, leastHealth)
}
