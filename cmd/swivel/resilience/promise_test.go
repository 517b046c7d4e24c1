package resilience

import (
	"testing"
	"time"
)

// promise is what the figures are held against. What depends on how busy the
// machine is has room: two cores with other tests on them must not fail it. The
// figures themselves are printed.
type promise struct {
	// Percent of the exchanges: in the first phase, and in all others. As long as
	// nothing is known, an exchange may meet a bad proxy with every attempt.
	learning, success float64
	p95, p99          time.Duration // of all exchanges after the first phase
	extra             float64       // handshakes per 100 exchanges after it, for tunnels that were overtaken

	// Wasted attempts per 100 exchanges. To find out that a proxy is dead costs
	// some attempts, however long the phase is: a short one has more per 100.
	dieWaste, afterWaste float64

	// An exchange that carries a test waits for its own tunnel no longer than for
	// the patience of the test and a healthy handshake.
	probing time.Duration

	recovery   time.Duration // after the rest, until a recovered proxy serves
	deadAnswer time.Duration // p95 of the answers about the dead target once it is known
	deadTrials int           // exchanges that go to look whether it is still down
}

const (
	probePatience   = 200 * time.Millisecond // the default
	schedulingSlack = 120 * time.Millisecond
)

var (
	longPromise = promise{learning: 99.5, success: 100, p95: 150 * time.Millisecond, p99: 300 * time.Millisecond, extra: 10,
		dieWaste: 3, afterWaste: 1, probing: probePatience + soundDelay(soundCount-1) + schedulingSlack,
		recovery: 2 * time.Second, deadAnswer: 50 * time.Millisecond, deadTrials: 8}
	shortPromise = promise{learning: 99, success: 99.9, p95: 150 * time.Millisecond, p99: 300 * time.Millisecond, extra: 10,
		dieWaste: 15, afterWaste: 8, probing: probePatience + soundDelay(soundCount-1) + schedulingSlack,
		recovery: 2 * time.Second, deadAnswer: 150 * time.Millisecond, deadTrials: 6}
)

// check says which promises the figures break.
func (f *figures) check(t *testing.T, p promise) {
	t.Helper()
	for _, phase := range f.phases {
		want := p.success
		if phase.name == learning {
			want = p.learning
		}
		if got := phase.success(); got < want {
			t.Errorf("%s: %.2f %% of the exchanges succeeded, want %.1f", phase.name, got, want)
		}
	}
	f.checkWaiting(t, p)
	for name, most := range map[string]float64{twoDie: p.dieWaste, afterRestart: p.afterWaste} {
		if got := f.phase(name).waste(); got > most {
			t.Errorf("%s: %.2f attempts per 100 exchanges were wasted, want at most %.1f", name, got, most)
		}
	}
	f.checkRecovery(t, p.recovery)
	f.checkRestart(t)
	f.checkDeadTarget(t, p)
}

// busy is what the machine itself adds to waiting times: on a machine that wakes
// the generator late, the daemon and the upstreams wake late as well, each time
// they wait. One that is idle adds next to nothing.
func (f *figures) busy(q float64) time.Duration { return 3 * quantile(f.lateness(), q) }

// checkWaiting is what bad proxies may cost in time: two are black holes, and one
// takes two seconds.
func (f *figures) checkWaiting(t *testing.T, p promise) {
	t.Helper()
	for q, most := range map[float64]time.Duration{.95: p.p95, .99: p.p99} {
		if got, most := quantile(f.afterLearning(), q), most+f.busy(q); got > most {
			t.Errorf("after the first phase the p%.0f is %v, want at most %v on this machine", 100*q, got, most)
		}
	}
	if got := f.extra(); got > p.extra {
		t.Errorf("after the first phase there were %.2f extra handshakes per 100 exchanges, want at most %.0f", got, p.extra)
	}
	probing := f.probing()
	if len(probing) == 0 {
		t.Error("no exchange carried a test: that shows nothing")
	}
	if got, most := quantile(probing, 1), p.probing+f.busy(.99); got > most {
		t.Errorf("an exchange that carried a test waited %v, want at most %v on this machine", got, most)
	}
}

func (f *figures) checkRecovery(t *testing.T, most time.Duration) {
	t.Helper()
	for _, r := range f.recoveries {
		switch {
		case r.served.IsZero():
			t.Errorf("%s has recovered and does not serve again", r.name)
		case r.served.Sub(r.due) > most:
			t.Errorf("%s has recovered and serves %v after its rest, want at most %v", r.name, r.served.Sub(r.due), most)
		}
	}
}

func (f *figures) checkRestart(t *testing.T) {
	t.Helper()
	if n := f.duringRests(); n > 0 {
		t.Errorf("after the restart %d attempts were made on proxies that still rested", n)
	}
	if len(f.remaining()) == 0 {
		t.Error("no proxy had any rest left after the restart: that shows nothing")
	}
}

func (f *figures) checkDeadTarget(t *testing.T, p promise) {
	t.Helper()
	d := f.deadTargetFigures()
	if d.served > 0 {
		t.Errorf("%d exchanges reached a target that is down", d.served)
	}
	if len(d.known) < 20 {
		t.Errorf("only %d answers came from memory: the dead target was not learnt", len(d.known))
	}
	if got, most := quantile(d.known, .95), p.deadAnswer+f.busy(.95); got > most {
		t.Errorf("the dead target is known, and p95 of the answers is %v, want at most %v on this machine", got, most)
	}
	if len(d.trials) > p.deadTrials {
		t.Errorf("%d exchanges went to look whether the target is still down, want at most %d", len(d.trials), p.deadTrials)
	}
	for name := range f.wronged {
		t.Errorf("%s was opened while a target was down", name)
	}
	for _, c := range f.changes {
		if f.phase(deadTargetPhase).holds(c.Time) && c.To == "open" && isSound(c.Name) {
			t.Errorf("%s was opened while a target was down, by rule %s", c.Name, c.Rule)
		}
	}
}
