package breaker_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"swivel/breaker"
)

// model runs a breaker and the naive reference side by side.
type model struct {
	real    *breaker.Breaker
	naive   *naive
	now     time.Time
	permits []modelPermit // all ever granted: they are reported late, twice, or never
	highest uint32        // generation seen so far
}

type modelPermit struct {
	real breaker.Permit
	id   int
}

func TestBreakerBehavesLikeTheNaiveReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"":        m.compare,
			"acquire": m.acquire,
			"attempt": m.attempt,
			"burst":   m.burst,
			"report":  m.report,
			"wait":    m.wait,
			"restart": m.restart,
		})
		m.recovers(t)
	})
}

// newModel draws settings whose times are whole seconds and whose jitter is a
// power of two, so that the two may calculate differently and still agree.
func newModel(t *rapid.T) *model {
	seconds := func(low, high int, label string) time.Duration {
		return time.Duration(rapid.IntRange(low, high).Draw(t, label)) * time.Second
	}
	s := breaker.Settings{
		ConsecutiveFailures: rapid.IntRange(0, 4).Draw(t, "failures"),
		RunWindow:           seconds(10, 600, "run window"),
		Window:              12 * seconds(1, 10, "window"),
		MinSamples:          rapid.IntRange(1, 8).Draw(t, "samples"),
		ErrorRatio:          rapid.SampledFrom([]float64{0.2, 0.4, 0.75, 1}).Draw(t, "ratio"),
		LatencyLimit:        rapid.SampledFrom([]time.Duration{0, limit}).Draw(t, "limit"),
		OpenTimeout:         seconds(1, 60, "open"),
		Jitter:              rapid.SampledFrom([]float64{0, 0.25, 1}).Draw(t, "jitter"),
		ProbeSuccesses:      rapid.IntRange(1, 3).Draw(t, "probes"),
		RefusedTimeout:      seconds(1, 900, "refused"),
		SlowStart:           seconds(0, 60, "slow start"),
		Outcomes:            rapid.SampledFrom([]int{0, 0, 8, 30}).Draw(t, "outcomes"),
	}
	s.MaxOpenTimeout = s.OpenTimeout + seconds(0, 600, "max open")
	random := rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "random")
	return &model{
		real:  breaker.New(s, func() float64 { return random }),
		naive: newNaive(s, random),
		now:   start,
	}
}

// limit is the latency limit of the models that have one.
const limit = time.Second

func (m *model) acquire(t *rapid.T) {
	lease := rapid.SampledFrom([]time.Duration{time.Second, 15 * time.Second, 10 * time.Minute}).Draw(t, "lease")
	wasOpen, left := m.real.State(m.now) == breaker.Open, m.real.RetryAfter(m.now)
	ready := m.real.Ready(m.now)
	p, e, ok := m.real.Acquire(m.now, lease)
	id, probe, want := m.naive.acquire(m.now, lease)
	if ok != want || p.Probe() != probe {
		t.Fatalf("Acquire = %v with probe %v, want %v, %v", ok, p.Probe(), want, probe)
	}
	if ok && (!ready || left > 0) {
		t.Fatalf("granted although Ready = %v and RetryAfter = %v", ready, left)
	}
	if wasOpen && ok && !probe {
		t.Fatal("an open breaker granted an ordinary permit")
	}
	if ok {
		m.permits = append(m.permits, modelPermit{p, id})
	}
	m.checkEffect(t, e, false)
}

func (m *model) report(t *rapid.T) {
	if len(m.permits) == 0 {
		t.Skip("no permits")
	}
	// Of the last few, or nearly all would be stale.
	recent := m.permits[max(0, len(m.permits)-4):]
	p := rapid.SampledFrom(recent).Draw(t, "permit")
	v := drawVerdict(t)
	before := m.real.Snapshot(m.now)
	e := m.real.Report(p.real, v, m.now)
	m.checkEffect(t, e, m.naive.report(p.id, v, m.now))
	if e.Stale {
		if diff := cmp.Diff(before, m.real.Snapshot(m.now)); diff != "" {
			t.Fatalf("a stale result changed something:\n%s", diff)
		}
	}
}

func drawVerdict(t *rapid.T) breaker.Verdict {
	v := breaker.Verdict{
		Outcome: rapid.SampledFrom([]breaker.Outcome{
			breaker.Success, breaker.Success, breaker.Success, breaker.Failure, breaker.Failure, breaker.Failure,
			breaker.Refused, breaker.Throttled, breaker.Ignored,
		}).Draw(t, "outcome"),
		Rest:      time.Duration(rapid.IntRange(1, 2000).Draw(t, "rest")) * time.Second,
		Latency:   rapid.SampledFrom([]time.Duration{0, limit, limit + 1}).Draw(t, "latency"),
		Suspected: rapid.SampledFrom([]bool{false, false, true}).Draw(t, "suspected"),
		Alone:     rapid.Bool().Draw(t, "alone"),
	}
	if v.Suspected && v.Outcome != breaker.Failure {
		v.Suspected = false
	}
	return v
}

// burst is many attempts that a busy proxy makes short work of: without those no
// window fills. All but a few end alike.
func (m *model) burst(t *rapid.T) {
	usual := rapid.SampledFrom([]breaker.Outcome{breaker.Success, breaker.Success, breaker.Failure}).Draw(t, "usual")
	every := rapid.IntRange(2, 12).Draw(t, "every")
	pause := rapid.SampledFrom([]time.Duration{0, 100 * time.Millisecond, time.Second}).Draw(t, "pause")
	latency := rapid.SampledFrom([]time.Duration{0, limit, limit + 1}).Draw(t, "latency")
	for i := range rapid.IntRange(5, 40).Draw(t, "attempts") {
		v := breaker.Verdict{Outcome: usual, Latency: latency}
		if i%every == every-1 {
			v.Outcome = breaker.Success + breaker.Failure - usual
		}
		granted := len(m.permits)
		m.acquire(t)
		if len(m.permits) > granted {
			p := m.permits[granted]
			m.permits = m.permits[:granted]
			m.checkEffect(t, m.real.Report(p.real, v, m.now), m.naive.report(p.id, v, m.now))
		}
		m.now = m.now.Add(pause)
		m.compare(t)
	}
}

// attempt makes runs and wins in a row likely.
func (m *model) attempt(t *rapid.T) {
	granted := len(m.permits)
	m.acquire(t)
	if len(m.permits) > granted {
		m.permits = append(m.permits[:0:0], m.permits[granted:]...)
		m.report(t)
	}
}

func (m *model) wait(t *rapid.T) {
	step := rapid.SampledFrom([]time.Duration{
		1, 300 * time.Millisecond, time.Second, 7 * time.Second, time.Minute, time.Hour,
		m.real.RetryAfter(m.now), max(0, m.real.RetryAfter(m.now)-1),
	}).Draw(t, "step")
	m.now = m.now.Add(step)
}

// restart stores, restores, and has the wall clock jump in between. Sometimes
// it is the settings that are new: runs open, or no longer.
func (m *model) restart(t *rapid.T) {
	jump := rapid.SampledFrom([]int{0, 0, 1, 10, 100, 10000, -1, -100, -10000}).Draw(t, "jump")
	stored := m.now
	snap := m.real.Snapshot(stored)
	m.now = m.now.Add(time.Duration(jump) * time.Second)
	random, s := m.naive.random, m.naive.s
	if rapid.SampledFrom([]bool{false, false, true}).Draw(t, "other settings") {
		s.ConsecutiveFailures = rapid.IntRange(0, 4).Draw(t, "failures")
	}
	m.real = breaker.Restore(s, snap, func() float64 { return random }, m.now)
	m.naive.restart(s, stored, m.now)
}

func (m *model) checkEffect(t *rapid.T, e breaker.Effect, stale bool) {
	var moves []naiveMove
	for tr := range e.Transitions {
		moves = append(moves, naiveMove{
			tr.From, tr.To, tr.Rule, tr.At, tr.Until, tr.Failures, tr.Suspicions, tr.Rate, tr.Samples,
		})
		m.checkRest(t, tr)
	}
	if diff := cmp.Diff(m.naive.moves, moves); diff != "" {
		t.Fatalf("transitions differ (-want +got):\n%s", diff)
	}
	if e.Moved != (len(moves) > 0) || e.Changed != m.naive.dirty || e.Stale != stale {
		t.Fatalf("moved %v, changed %v, stale %v, want %v, %v, %v",
			e.Moved, e.Changed, e.Stale, len(moves) > 0, m.naive.dirty, stale)
	}
	m.naive.moves, m.naive.dirty = nil, false
}

func (m *model) checkRest(t *rapid.T, tr breaker.Transition) {
	if tr.To != breaker.Open {
		return
	}
	shortest := m.naive.s.OpenTimeout
	switch tr.Rule {
	case breaker.RuleRefused:
		shortest = m.naive.s.RefusedTimeout
	case breaker.RuleThrottled:
		shortest = time.Second // the reference knows what was asked for
	}
	if rest := tr.Until.Sub(tr.At); rest < shortest {
		t.Fatalf("rest of %v by %v, want no less than %v", rest, tr.Rule, shortest)
	}
}

// compare looks at both from all sides.
func (m *model) compare(t *rapid.T) {
	if got, want := m.real.Factor(m.now), m.naive.factor(m.now); math.Abs(got-want) > 1e-9 {
		t.Fatalf("factor %v, want %v", got, want)
	}
	got := m.real.Snapshot(m.now)
	m.naive.pass(m.now)
	if got.Generation < m.highest {
		t.Fatalf("generation went back from %d to %d", m.highest, got.Generation)
	}
	m.highest, got.Generation = got.Generation, 0
	if diff := cmp.Diff(m.naive.snapshot(m.now), got); diff != "" {
		t.Fatalf("snapshots differ (-want +got):\n%s", diff)
	}
	wait := m.naive.wait(m.now)
	if s, w := m.real.State(m.now), m.real.RetryAfter(m.now); s != m.naive.state || w != wait {
		t.Fatalf("state %v, retry after %v, want %v, %v", s, w, m.naive.state, wait)
	}
	due := m.naive.state != breaker.Closed && wait == 0
	if m.real.Due(m.now) != due {
		t.Fatalf("due = %v, want %v", !due, due)
	}
	if wait == 0 && !m.real.Ready(m.now) {
		t.Fatal("not ready although Acquire would grant")
	}
}

// recovers checks that no history leaves a breaker that a working proxy cannot
// get out of.
func (m *model) recovers(t *rapid.T) {
	for range 10 {
		m.now = m.now.Add(m.real.RetryAfter(m.now))
		if p, _, ok := m.real.Acquire(m.now, lease); ok {
			m.real.Report(p, breaker.Verdict{Outcome: breaker.Success}, m.now)
		}
	}
	if s := m.real.State(m.now); s != breaker.Closed {
		t.Fatalf("still %v after ten good attempts", s)
	}
}
