package daemon

import (
	"fmt"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool"
)

// shift moves every time in the database, as if the clock were wrong by so much
// the other way now.
func (r *rig) shift(by time.Duration) {
	r.t.Helper()
	s := by.Seconds()
	for _, column := range []string{"next_test_time", "last_state_change", "created_at", "updated_at"} {
		r.exec("UPDATE circuit_breaker_states SET "+column+" = "+column+" + ?", s)
	}
	r.exec("UPDATE circuit_breaker_states SET failure_window_json = (SELECT json_group_array(value + ?) FROM json_each(failure_window_json))", s)
	r.exec(`UPDATE circuit_breaker_states SET window_json = (SELECT json_group_array(json_array(
		json_extract(value, '$[0]') + ?, json_extract(value, '$[1]'), json_extract(value, '$[2]'))) FROM json_each(window_json))`, s)
	r.exec("UPDATE pauses SET paused_at = paused_at + ?", s)
	r.exec("UPDATE bans SET until = until + ?", s)
	r.exec("UPDATE target_rests SET until = until + ?", s)
}

func TestClockThatIsFarOffShutsNobodyOutAndForgetsNobody(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for _, by := range []time.Duration{0, time.Hour, -time.Hour, year, -year} {
		t.Run(fmt.Sprintf("rows %v ahead", by), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "127.0.0.1:1 name=early", "127.0.0.1:2 name=due open_timeout=1ms", "127.0.0.1:3 name=refused", "127.0.0.1:4 name=probed open_timeout=1ms",
				"127.0.0.1:5 name=closed", "127.0.0.1:6 name=paused", "127.0.0.1:7 name=new")
			r.start()
			r.fillForClock()
			due, probed := r.snapshot("due"), r.snapshot("probed")
			if due.State != breaker.Open || probed.State != breaker.HalfOpen {
				t.Fatalf("due is %v, probed is %v", due.State, probed.State)
			}
			before, left := time.Now(), r.proxy("early").Breaker().RetryAfter(time.Now())
			r.stop()
			r.shift(by)
			r.start()
			r.checkStates(by, left-time.Since(before))
			r.checkTroubles(by)
		})
	}
}

// fillForClock makes one of everything that has a time.
func (r *rig) fillForClock() {
	failure := breaker.Verdict{Outcome: breaker.Failure}
	r.takeDown("down.test:443")
	r.ban("closed", "refused.test:443")
	for range 5 {
		r.report("early", failure)
		r.report("due", failure)
		r.report("probed", failure)
	}
	r.report("refused", breaker.Verdict{Outcome: breaker.Refused})
	r.eventually("the short rests are over", func() bool {
		now := time.Now()
		return r.proxy("due").Breaker().Due(now) && r.proxy("probed").Breaker().Due(now)
	})
	r.report("probed", breaker.Verdict{Outcome: breaker.Success})
	for range 3 {
		r.report("closed", failure)
	}
	r.report("new", breaker.Verdict{Outcome: breaker.Failure, Suspected: true})
	r.pauseFor("paused", "why")
}

// checkStates: whatever the clock did, who was out is out, for no longer than
// the longest rest, and who was due is due.
func (r *rig) checkStates(by, left time.Duration) {
	r.t.Helper()
	now, b := time.Now(), r.cfg.Breaker
	longest := func(d time.Duration) time.Duration { return d + time.Duration(b.Jitter*float64(d)) }
	for name, most := range map[string]time.Duration{
		"early": longest(time.Duration(b.MaxOpenTimeout)), "refused": longest(time.Duration(b.RefusedTimeout)), "due": 0, "probed": 0, "closed": 0,
	} {
		state, wait := r.snapshot(name), r.proxy(name).Breaker().RetryAfter(now)
		if name != "closed" && state.State != breaker.Open || name == "closed" && state.State != breaker.Closed {
			r.t.Errorf("%s is %v", name, state.State)
		}
		switch {
		case by <= 0 && wait > left && name == "early", wait > most && (name != "due" && name != "probed" || by == 0), wait > longest(time.Duration(b.MaxOpenTimeout)):
			r.t.Errorf("%s rests for %v", name, wait)
		case by == 0 && name == "early" && wait < left-5*time.Second:
			r.t.Errorf("%s rests for %v only, %v were left", name, wait, left)
		case by > 0 && (name == "early" || name == "refused") && wait <= 0:
			r.t.Errorf("%s does not rest although its time has not come", name)
		}
	}
	if s := r.snapshot("early"); s.OpensInRow != 1 || s.Rule != breaker.RuleRun {
		r.t.Errorf("early: %d opens in a row by %v", s.OpensInRow, s.Rule)
	}
	if s := r.snapshot("probed"); s.ProbeWins != 1 {
		r.t.Errorf("probed: %d successful probes are left", s.ProbeWins)
	}
	if s := r.snapshot("new"); s.Suspicions != 1 {
		r.t.Errorf("new: %d suspicions", s.Suspicions)
	}
	wantFailures := 3
	if by < 0 {
		wantFailures = 0 // older than run_window, for all that can be known
	}
	if s := r.snapshot("closed"); len(s.Failures) != wantFailures || !s.Succeeded || s.Recent != "+---" && s.Recent[len(s.Recent)-4:] != "+---" {
		r.t.Errorf("closed: %d failures, succeeded %v, last outcomes %s", len(s.Failures), s.Succeeded, s.Recent)
	}
	r.wantPaused("paused", "why")
}

// checkTroubles: bans and rests of targets are short, and gone at worst.
func (r *rig) checkTroubles(by time.Duration) {
	r.t.Helper()
	bans, rests := r.pool.Targets(time.Now())
	if want := by >= 0; want != (len(bans) == 1) || want != (len(rests) == 1) {
		r.t.Fatalf("bans %+v, rests %+v", bans, rests)
	}
	for _, ban := range bans {
		if left := time.Until(ban.Until); left > time.Duration(r.cfg.Breaker.MaxOpenTimeout) || ban.Proxy != r.proxy("closed").ID {
			r.t.Errorf("ban %+v lasts for %v", ban, left)
		}
	}
	for _, rest := range rests {
		if left := time.Until(rest.Until); left > time.Duration(r.cfg.Targets.MaxRest) {
			r.t.Errorf("target %+v rests for %v", rest, left)
		}
	}
}

func TestSlowStartGoesOnAfterARestart(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a open_timeout=1ms", "127.0.0.1:2 name=b")
	r.cfg.Breaker.SlowStart = r.cfg.Breaker.Window * 10 // ten minutes: the share grows by little during the test
	r.start()
	for range 3 {
		r.report("a", breaker.Verdict{Outcome: breaker.Failure})
	}
	r.eventually("the rest is over", func() bool { return r.proxy("a").Breaker().Due(time.Now()) })
	r.report("a", breaker.Verdict{Outcome: breaker.Success})
	r.report("a", breaker.Verdict{Outcome: breaker.Success})
	before := r.proxy("a").Breaker().Factor(time.Now())
	r.restart()
	after := r.proxy("a").Breaker().Factor(time.Now())
	if before > 0.2 || after < before || after > before+0.1 {
		t.Errorf("the factor was %v and is %v", before, after)
	}
}

func TestHalfOpenIsDueAfterARestartAndNotUsedByAll(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a open_timeout=1ms", "127.0.0.1:2 name=b")
	r.start()
	for range 3 {
		r.report("a", breaker.Verdict{Outcome: breaker.Failure})
	}
	r.eventually("the rest is over", func() bool { return r.proxy("a").Breaker().Due(time.Now()) })
	m, now := r.proxy("a"), time.Now()
	_, effect, ok := m.Breaker().Acquire(now, time.Hour) // the probe dies with the process
	r.sink([]pool.Event{{Proxy: m, Effect: effect}})
	if !ok || r.snapshot("a").State != breaker.HalfOpen {
		t.Fatal("no probe")
	}
	r.restart()
	b := r.proxy("a").Breaker()
	if !b.Due(time.Now()) || !b.Resting() {
		t.Errorf("due: %v, resting: %v", b.Due(time.Now()), b.Resting())
	}
	if _, _, ok := b.Acquire(time.Now(), time.Minute); !ok {
		t.Error("no probe is granted")
	}
	if _, _, ok := b.Acquire(time.Now(), time.Minute); ok {
		t.Error("a second probe is granted beside the first")
	}
}
