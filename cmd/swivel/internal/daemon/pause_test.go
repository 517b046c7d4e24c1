package daemon

import (
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool"
	"swivel/storage"
)

func (r *rig) pauseFor(name, reason string) {
	r.t.Helper()
	if err := r.Pause([]*pool.Proxy{r.proxy(name)}, pool.Pause{Reason: reason, At: time.Now()}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) wantPaused(name, reason string) {
	r.t.Helper()
	switch why := r.proxy(name).Paused(); {
	case why == nil && reason != "":
		r.t.Errorf("%s is not paused, want %q", name, reason)
	case why != nil && why.Reason != reason:
		r.t.Errorf("%s is paused for %q, want %q", name, why.Reason, reason)
	}
}

func TestPauseSurvivesARestart(t *testing.T) {
	for _, running := range []bool{true, false} { // stopped in order, or killed once the call had returned
		r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
		r.start()
		r.pauseFor("a", "vendor maintenance")
		r.pauseFor("b", "mistake")
		if err := r.Resume([]*pool.Proxy{r.proxy("b")}, "me"); err != nil {
			t.Fatal(err)
		}
		if !running {
			if n := r.number("SELECT count(*) FROM pauses WHERE reason = 'vendor maintenance'"); n != 1 {
				t.Errorf("%v rows when the call returned", n)
			}
		}
		r.restart()
		r.wantPaused("a", "vendor maintenance")
		r.wantPaused("b", "")
	}
}

func TestPauseInMemoryNeedsNoFile(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	r.cfg.DB = ":memory:"
	r.start()
	r.pauseFor("a", "why")
	r.Reload()
	r.wantPaused("a", "why")
	r.restart()
	r.wantPaused("a", "")
}

func TestPauseSurvivesReloadAndAbsence(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
	r.start()
	r.pauseFor("a", "why")
	r.Reload()
	r.wantPaused("a", "why")
	r.write("127.0.0.1:2 name=b")
	r.Reload()
	r.write("127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
	r.Reload()
	r.wantPaused("a", "why")

	r.write("127.0.0.1:2 name=b")
	r.restart() // it is away over a restart, too
	r.write("127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
	r.Reload()
	r.wantPaused("a", "why")
	if err := r.Resume([]*pool.Proxy{r.proxy("a")}, "me"); err != nil {
		t.Fatal(err)
	}
	r.Reload()
	r.wantPaused("a", "")
	if lines := r.log.lines("resumed"); len(lines) != 1 || lines[0]["by"] != "me" {
		t.Errorf("of the one resume: %v", lines)
	}
}

// What a reload needs to know of pauses it does not ask the database for.
func TestPausedProxyComesBackPausedWhileTheDatabaseIsLocked(t *testing.T) {
	t.Parallel()
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
	r.start()
	r.pauseFor("a", "why")
	r.write("127.0.0.1:2 name=b")
	r.Reload()
	r.database(func(db *sql.DB) {
		lock(t, db)
		r.write("127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
		r.Reload()
		r.wantPaused("a", "why")
	})
}

// lock keeps everybody else from writing until the database is closed.
func lock(t *testing.T, db *sql.DB) {
	t.Helper()
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
}

func TestPauseThatCannotBeStoredIsNotDone(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
	r.start()
	r.pauseFor("b", "why")
	away := r.cfg.DB + ".away"
	r.rename(r.cfg.DB, away)
	if err := r.Pause([]*pool.Proxy{r.proxy("a")}, pool.Pause{Reason: "why", At: time.Now()}); err == nil {
		t.Error("no error")
	}
	if err := r.Resume([]*pool.Proxy{r.proxy("b")}, "me"); err == nil {
		t.Error("no error")
	}
	r.wantPaused("a", "")
	r.wantPaused("b", "why")
	if n := len(r.log.lines("a pause could not be stored")) + len(r.log.lines("the end of a pause could not")); n != 2 {
		t.Errorf("%d lines in the log, want one for each", n)
	}
	r.rename(away, r.cfg.DB)
	r.Reload()
	r.wantPaused("a", "")
	r.wantPaused("b", "why")
}

// Pause and resume at once used to leave one in the file and the other in the
// pool.
func TestFileAndPoolAgreeAfterOperatorsCrossed(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
	r.start()
	a := []*pool.Proxy{r.proxy("a")}
	for range 10 {
		var working sync.WaitGroup
		for range 4 {
			working.Go(func() {
				err := r.Pause(a, pool.Pause{Reason: "why", At: time.Now()})
				if err := errors.Join(err, r.Resume(a, "me")); err != nil {
					t.Error(err)
				}
			})
			working.Go(func() {
				err := r.Resume(a, "me")
				if err := errors.Join(err, r.Pause(a, pool.Pause{Reason: "why", At: time.Now()})); err != nil {
					t.Error(err)
				}
			})
		}
		working.Go(func() { _, _ = r.Reload() })
		working.Wait()
		stored := r.number("SELECT count(*) FROM pauses") == 1
		if paused := r.proxy("a").Paused() != nil; paused != stored {
			t.Fatalf("paused in the pool: %v, in the file: %v", paused, stored)
		}
	}
}

// A proxy that comes back used to be as it was when the daemon started.
func TestBreakerSurvivesAnAbsence(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b", "127.0.0.1:3 name=c")
	r.start()
	r.report("c", breaker.Verdict{Outcome: breaker.Refused})
	r.restart()
	r.report("a", breaker.Verdict{Outcome: breaker.Refused})
	want := r.snapshot("a")
	r.write("127.0.0.1:2 name=b")
	r.Reload()
	r.write("127.0.0.1:1 name=a", "127.0.0.1:2 name=b", "127.0.0.1:3 name=c")
	r.Reload()
	got := r.snapshot("a")
	if got.State != breaker.Open || got.Rule != breaker.RuleRefused || got.NextTest.Sub(want.NextTest).Abs() > time.Second {
		t.Errorf("it came back as %+v, had left as %+v", got, want)
	}
	if c := r.snapshot("c"); c.State != breaker.Open {
		t.Errorf("c came back as %+v", c)
	}
	if b := r.snapshot("b"); b.State != breaker.Closed {
		t.Errorf("b stayed and is %+v", b)
	}
}

func TestBreakerSurvivesAnAbsenceOverRestarts(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
	r.start()
	r.report("a", breaker.Verdict{Outcome: breaker.Refused})
	want := r.snapshot("a").NextTest
	r.write("127.0.0.1:2 name=b")
	r.restart()
	r.restart()
	r.write("127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
	r.Reload()
	if got := r.snapshot("a"); got.State != breaker.Open || got.NextTest.Sub(want).Abs() > time.Second {
		t.Errorf("after a reload it is %+v, want a rest until %v", got, want)
	}
	r.restart()
	if got := r.snapshot("a"); got.State != breaker.Open || got.NextTest.Sub(want).Abs() > time.Second {
		t.Errorf("after a restart it is %+v, want a rest until %v", got, want)
	}
}

func TestReloadThatFailsChangesNothing(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	r.start()
	for _, lines := range [][]string{{""}, {"# nothing"}, {"not a proxy at all://"}, {r.Addr().String()}} {
		r.write(lines...)
		r.Reload()
		if n := len(r.pool.Proxies()); n != 1 || r.proxy("a") == nil {
			t.Errorf("%q: %d proxies", lines, n)
		}
	}
	if n := len(r.log.lines("reload refused")); n != 4 {
		t.Errorf("%d lines about the refusals, want 4", n)
	}
}

func (r *rig) ban(name, target string) {
	r.t.Helper()
	for range 1000 { // until the pick comes to it
		now := time.Now()
		x, refusal, _ := r.pool.Begin(pool.Request{ID: "r1", Target: target}, now)
		if refusal != nil {
			r.t.Fatalf("%+v", refusal)
		}
		l, _, ok := x.Next(now, time.Minute, false)
		if !ok {
			r.t.Fatal("nobody is left")
		}
		f := pool.Fault{Signal: pool.ClientGone}
		if l.Proxy.Spec.Name == name {
			f.Signal = pool.HandshakeDenied
		}
		r.sink(x.Fail(l, f, now))
		r.sink(x.End(now))
		if f.Signal == pool.HandshakeDenied {
			return
		}
	}
	r.t.Fatal("never picked")
}

func TestBansAndRestingTargetsSurviveARestart(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b", "127.0.0.1:3 name=c")
	r.start()
	r.ban("a", "refused.test:443")
	r.takeDown("down.test:443")
	bans, rests := r.pool.Targets(time.Now())
	if len(bans) != 1 || len(rests) != 1 {
		t.Fatalf("%+v, %+v", bans, rests)
	}
	r.eventually("both are stored", func() bool {
		return r.number("SELECT (SELECT count(*) FROM bans) + (SELECT count(*) FROM target_rests)") == 2
	})
	r.restart()
	gotBans, gotRests := r.pool.Targets(time.Now())
	if len(gotBans) != 1 || gotBans[0].Proxy != bans[0].Proxy || gotBans[0].Target != bans[0].Target || gotBans[0].Until.Sub(bans[0].Until).Abs() > 10*time.Millisecond {
		t.Errorf("bans are %+v, were %+v", gotBans, bans)
	}
	if len(gotRests) != 1 || gotRests[0].Target != rests[0].Target || gotRests[0].Rest != rests[0].Rest || gotRests[0].Until.Sub(rests[0].Until).Abs() > 10*time.Millisecond {
		t.Errorf("rests are %+v, were %+v", gotRests, rests)
	}
	if status := r.connect("down.test:443"); status != 502 {
		t.Errorf("a target that rests is answered with %d", status)
	}
	r.eventually("the log says that the target is down", func() bool {
		return strings.Contains(r.log.String(), `"code":"target_down"`)
	})
}

// takeDown makes all proxies fail on a target.
func (r *rig) takeDown(target string) {
	r.t.Helper()
	for _, m := range r.pool.Proxies() { // credible are those who have succeeded
		r.reach(m, "up.test:443")
	}
	now := time.Now()
	x, _, _ := r.pool.Begin(pool.Request{ID: "r2", Target: target}, now)
	for l, _, ok := x.Next(now, time.Minute, false); ok; l, _, ok = x.Next(now, time.Minute, false) {
		r.sink(x.Fail(l, pool.Fault{Signal: pool.HandshakeGateway}, now))
	}
	r.sink(x.End(now))
}

// reach lets the proxy reach a target.
func (r *rig) reach(m *pool.Proxy, target string) {
	r.t.Helper()
	for range 1000 {
		now := time.Now()
		x, _, _ := r.pool.Begin(pool.Request{ID: "r3", Target: target}, now)
		l, _, ok := x.Next(now, time.Minute, false)
		if !ok {
			r.t.Fatal("nobody is left")
		}
		r.sink(x.Reached(l, pool.FirstByte, 0, now))
		r.sink(x.End(now))
		if l.Proxy.ID == m.ID {
			return
		}
	}
	r.t.Fatal("never picked")
}

func TestDrainSurvivesARestartAndIsToldApart(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
	r.start()
	if err := r.Pause([]*pool.Proxy{r.proxy("a")}, pool.Pause{Reason: "why", By: "me", At: time.Now(), Drain: true}); err != nil {
		t.Fatal(err)
	}
	r.pauseFor("b", "other")
	if err := r.Audit(storage.Deed{At: time.Now(), Caller: "me", Action: "drain", Subject: "a", Input: "why"}); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if a, b := r.proxy("a").Paused(), r.proxy("b").Paused(); a == nil || !a.Drain || a.By != "me" || b == nil || b.Drain {
		t.Errorf("%+v, %+v", a, b)
	}
	if deeds, err := r.Deeds(10); err != nil || len(deeds) != 1 || deeds[0].Caller != "me" {
		t.Errorf("%+v, %v", deeds, err)
	}
	r.database(func(db *sql.DB) {
		for _, statement := range []string{"DELETE FROM audit_log", "UPDATE audit_log SET caller = 'nobody'",
			"INSERT OR REPLACE INTO audit_log SELECT id, at, 'nobody', action, subject, input FROM audit_log"} {
			if _, err := db.Exec(statement); err == nil {
				t.Errorf("%s: it was done", statement)
			}
		}
	})
}
