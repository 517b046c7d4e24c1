package resilience

import (
	"slices"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// form is how long everything takes.
type form struct {
	learn, steady, die, recover, after, dead time.Duration
	env                                      []string
}

// latencyLimit is the one setting that the pool needs: by default nobody is
// opened for being slow.
const latencyLimit = "SWIVEL_BREAKER_LATENCY_LIMIT=1s"

var (
	// longForm has the default rests: recovery takes as long as it does for
	// users.
	longForm = form{10 * time.Second, 30 * time.Second, 30 * time.Second, 30 * time.Second, 30 * time.Second, 30 * time.Second,
		[]string{latencyLimit}}
	// shortForm has shorter rests, so that one is over within the run.
	shortForm = form{10 * time.Second, 3 * time.Second, 6 * time.Second, 2 * time.Second, 5 * time.Second, 5 * time.Second,
		[]string{latencyLimit, "SWIVEL_BREAKER_OPEN_TIMEOUT=8s"}}
)

// dying are those who die: one closes its port, one falls silent.
var dying = []string{soundName(3), soundName(6)}

// The phases.
const (
	learning        = "learn"
	steady          = "steady"
	twoDie          = "two die"
	twoRecover      = "two recover"
	restarting      = "restart"
	afterRestart    = "after restart"
	deadTargetPhase = "dead target"
)

// run is the whole course.
type run struct {
	form      form
	setup     swiveltest.Setup
	ledger    *ledger
	upstreams upstreams
	daemon    *swiveltest.Daemon
	load      *load
	lines     []swiveltest.Line // of daemons that have ended
	phases    []*phase

	recoveries []recovery
	restart    restart
	wronged    map[string]bool // sound proxies seen open while the target was dead
}

// recovery is how one dead upstream came back.
type recovery struct {
	name   string
	state  string // of its breaker when it did
	at     time.Time
	due    time.Time // when its rest was over; not before at
	served time.Time // zero: it was not
}

// restart is what the daemon knew when it was killed.
type restart struct {
	killed, ready time.Time
	restsUntil    map[string]time.Time // by name of the proxy
}

// TestResilience: see the package comment.
func TestResilience(t *testing.T) {
	form, promise := shortForm, shortPromise
	if *long {
		form, promise = longForm, longPromise
	}
	r := &run{form: form, ledger: &ledger{}, wronged: map[string]bool{}}
	r.upstreams = newUpstreams(t, r.ledger)
	r.setup = swiveltest.Setup{Dir: t.TempDir(), Lines: r.upstreams.list(), Env: r.form.env, Logs: *logs}
	r.daemon = startDaemon(t, r.setup)
	r.load = startLoad(r.daemon.Listen)

	r.during(t, learning, func() { r.pass(t, r.form.learn) })
	r.during(t, steady, func() { r.pass(t, r.form.steady) })
	r.during(t, twoDie, func() { r.twoDie(t) })
	r.during(t, twoRecover, func() { r.twoRecover(t) })
	r.during(t, restarting, func() { r.killAndStart(t) })
	r.during(t, afterRestart, func() { r.pass(t, r.form.after) })
	r.during(t, deadTargetPhase, func() { r.deadTarget(t) })

	f := r.figures(t)
	f.print(t)
	f.check(t, promise)
}

// during runs one phase.
func (r *run) during(t *testing.T, name string, f func()) {
	t.Helper()
	p := &phase{name: name, begin: time.Now()}
	f()
	p.end = time.Now()
	r.phases = append(r.phases, p)
}

// pass lets the load run.
func (r *run) pass(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-r.daemon.Ended():
		t.Fatalf("swivel ended: %s", r.daemon.Output(t))
	}
}

func (r *run) twoDie(t *testing.T) {
	r.upstreams[dying[0]].refuse()
	r.upstreams[dying[1]].follow(t, silent)
	r.pass(t, r.form.die)
}

// recoverySlack is how long a recovered proxy is waited for beyond its rest; the
// figure itself is held against less.
const recoverySlack = 5 * time.Second

// twoRecover makes two dead ones sound, of which one refused and one was silent,
// and lasts at least until both serve.
func (r *run) twoRecover(t *testing.T) {
	least := time.Now().Add(r.form.recover)
	silent := r.restingSilent(t)
	var served []<-chan struct{}
	for _, name := range []string{"closed-1", silent} {
		one := recovery{name: name, at: time.Now()}
		m := r.daemon.Members(t)[name]
		one.state, one.due = m.State, restsUntil(m)
		if one.due.Before(one.at) {
			one.due = one.at
		}
		r.recoveries = append(r.recoveries, one)
		served = append(served, r.upstreams[name].follow(t, sound(10*time.Millisecond)))
	}
	for i, one := range r.recoveries {
		select {
		case <-served[i]:
		case <-time.After(time.Until(one.due.Add(recoverySlack))):
		}
	}
	r.pass(t, time.Until(least))
}

// restingSilent returns a silent one that rests. One that is being tested will
// not be found well by that test, which hangs, whatever becomes of the proxy
// meanwhile: its rest has yet to begin.
func (r *run) restingSilent(t *testing.T) string {
	t.Helper()
	deadline := time.After(30 * time.Second)
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		members := r.daemon.Members(t)
		for _, name := range []string{"silent-1", "silent-2"} {
			if restsUntil(members[name]).After(time.Now()) {
				return name
			}
		}
		select {
		case <-again.C:
		case <-deadline:
			t.Fatal("no silent proxy rests")
		}
	}
}

// storedWithin is how soon a change of a breaker is in the database for sure,
// on a busy machine too.
const storedWithin = 500 * time.Millisecond

// killAndStart kills the daemon under load, some time after a look at what it
// knows.
func (r *run) killAndStart(t *testing.T) {
	r.restart.restsUntil = map[string]time.Time{}
	for name, m := range r.daemon.Members(t) {
		if until := restsUntil(m); !until.IsZero() {
			r.restart.restsUntil[name] = until
		}
	}
	r.pass(t, storedWithin)
	r.restart.killed = time.Now()
	r.daemon.Kill(t)
	r.lines = r.daemon.Lines(t, "")
	r.daemon = startDaemon(t, r.setup)
	r.load.proxy.Store(&r.daemon.Listen)
	r.restart.ready = time.Now()
}

// deadTarget looks again and again whether the dead target is taken out on the
// proxies.
func (r *run) deadTarget(t *testing.T) {
	r.load.dead.Store(true)
	over := time.After(r.form.dead)
	look := time.NewTicker(250 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			for name, m := range r.daemon.Members(t) {
				if isSound(name) && m.State != "closed" {
					r.wronged[name] = true
				}
			}
		case <-over:
			return
		}
	}
}

// figures ends the load and computes everything.
func (r *run) figures(t *testing.T) *figures {
	t.Helper()
	f := &figures{run: r, samples: r.load.end()}
	r.lines = append(r.lines, r.daemon.Lines(t, "")...)
	r.ledger.refused(r.lines)
	f.visits = r.ledger.all()
	f.findServed()
	for _, l := range r.lines {
		if l.Message == "breaker" {
			f.changes = append(f.changes, l)
		}
	}
	f.leaveOutTheRestart()
	for _, p := range r.phases {
		p.measure(f.samples, f.visits, f.changes)
	}
	slices.SortFunc(f.samples, func(a, b sample) int { return a.at.Compare(b.at) })
	return f
}
