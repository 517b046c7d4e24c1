package fleet_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/fleet"
	"swivel/storage"
)

// fail has the instances fail in turn, once in so long, until all rest the proxy.
func (r *rig) fail(id string, every time.Duration) (attempts int) {
	r.t.Helper()
	for range 100 {
		resting := 0
		for _, n := range r.nodes {
			if _, ok := n.attempt(id, breaker.Failure); ok {
				attempts++
			} else {
				resting++
			}
			r.pass(every / time.Duration(len(r.nodes)))
		}
		if resting == len(r.nodes) {
			return attempts
		}
	}
	r.t.Fatal("it is never rested")
	return 0
}

func TestFailuresAreCountedAcrossTheFleet(t *testing.T) {
	r := newRig(t, 3, "p")
	if n := r.fail("p", time.Second); n > 5+3 {
		t.Errorf("%d attempts before all rest it", n)
	}
	r.pass(time.Second)
	r.want("p", breaker.Open)
}

func TestSuccessElsewhereKeepsAProxyInUse(t *testing.T) {
	r := newRig(t, 3, "p")
	for range 20 {
		for i, n := range r.nodes {
			o := breaker.Failure
			if i == 2 {
				o = breaker.Success
			}
			n.attempt("p", o)
			r.pass(200 * time.Millisecond)
		}
		if r.nodes[0].state("p") != breaker.Closed {
			break
		}
	}
	// Two of three fail: it is the rate that opens it, for all together.
	r.pass(time.Second)
	r.want("p", breaker.Open)
	if s, _, _ := r.nodes[2].breakers["p"].Standing(r.now); s.Rule != breaker.RuleRate {
		t.Errorf("opened by %v", s.Rule)
	}
}

func TestOneProbeInTheWholeFleetPerRest(t *testing.T) {
	r := newRig(t, 5, "p")
	r.fail("p", time.Second)
	for rest := 30 * time.Second; rest <= 240*time.Second; rest *= 2 {
		probes := 0
		for begin := r.now; r.now.Sub(begin) < rest; {
			for _, n := range r.nodes {
				if probe, _ := n.attempt("p", breaker.Failure); probe {
					probes++
				}
			}
			r.pass(500 * time.Millisecond)
		}
		if probes > 1 {
			t.Errorf("%d probes within %v", probes, rest)
		}
	}
}

func TestProxyThatWorksAgainClosesForAll(t *testing.T) {
	r := newRig(t, 3, "p")
	r.fail("p", time.Second)
	r.pass(31 * time.Second)
	for range 10 {
		for _, n := range r.nodes {
			n.attempt("p", breaker.Success)
		}
		r.pass(time.Second)
	}
	r.want("p", breaker.Closed)
}

// TestSlowFleetTestsToo: with minutes between requests leases must not lapse
// again and again just before they are used.
func TestSlowFleetTestsToo(t *testing.T) {
	r := newRig(t, 2, "p")
	r.fail("p", time.Second)
	for _, n := range r.nodes {
		n.busy = false
	}
	for i := range 40 {
		if probe, _ := r.nodes[i%2].attempt("p", breaker.Success); probe {
			return
		}
		r.pass(70 * time.Second)
	}
	t.Error("nobody has tested it in 47 minutes")
}

func TestIdleInstanceHoldsNoLease(t *testing.T) {
	r := newRig(t, 2, "p", "q")
	r.fail("p", time.Second)
	r.fail("q", time.Second)
	for _, n := range r.nodes {
		n.busy = false
	}
	r.pass(30 * time.Second)
	r.nodes[0].Want([]string{"p"}, r.nodes[0].now())
	r.pass(time.Second)
	if got := r.nodes[0].Leases(); len(got) == 0 {
		t.Fatal("it was not given what it wanted")
	}
	r.pass(10 * time.Second)
	if got := r.nodes[0].Leases(); len(got) != 0 {
		t.Errorf("it still has %q", got)
	}
	if probe, _ := r.nodes[1].attempt("p", breaker.Success); probe {
		t.Error("without a lease")
	}
	r.pass(time.Second)
	if probe, _ := r.nodes[1].attempt("p", breaker.Success); !probe {
		t.Error("the other one does not get it")
	}
}

// TestBusyInstanceThatTestsNothingLetsOthers: it has traffic, but none that may
// carry a test.
func TestBusyInstanceThatTestsNothingLetsOthers(t *testing.T) {
	ids := many(20)
	r := newRig(t, 2, ids...)
	for _, id := range ids {
		r.fail(id, 300*time.Millisecond)
	}
	other := r.nodes[1]
	tested := map[string]bool{}
	for begin := r.now; r.now.Sub(begin) < 3*time.Minute; r.pass(300 * time.Millisecond) {
		for _, id := range ids {
			if probe, _ := other.attempt(id, breaker.Success); probe {
				tested[id] = true
			}
		}
	}
	if len(tested) != len(ids) {
		t.Errorf("only %d of %d proxies were tested", len(tested), len(ids))
	}
}

func many(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprint("p", i))
	}
	return ids
}

func TestManyThatAreBackAreTestedSoon(t *testing.T) {
	ids := many(1000)
	r := newRig(t, 1, ids...)
	n := r.nodes[0]
	for _, id := range ids {
		for range 5 {
			n.attempt(id, breaker.Failure)
		}
	}
	r.pass(40 * time.Second)
	for begin := r.now; r.now.Sub(begin) < 20*time.Second; r.pass(50 * time.Millisecond) {
		for _, id := range ids {
			n.attempt(id, breaker.Success)
		}
	}
	closed := 0
	for _, id := range ids {
		if n.state(id) == breaker.Closed {
			closed++
		}
	}
	if closed < 950 {
		t.Errorf("%d of %d are back after 20 s", closed, len(ids))
	}
}

func TestDeadHolderDoesNotKeepALease(t *testing.T) {
	r := newRig(t, 2, "p")
	r.fail("p", time.Second)
	r.pass(31 * time.Second)
	holder, other := r.nodes[0], r.nodes[1]
	if len(holder.Leases()) == 0 {
		holder, other = other, holder
	}
	if _, _, ok := holder.breakers["p"].Acquire(r.now, time.Hour); !ok {
		t.Fatal("no probe")
	}
	holder.dead = true
	r.pass(7 * time.Second)
	if probe, _ := other.attempt("p", breaker.Success); !probe {
		t.Error("the probe of a dead instance is in the way")
	}
}

func TestWithoutAHubEachIsOnItsOwnAndAfterwardsAllAgree(t *testing.T) {
	r := newRig(t, 3, "p", "q")
	r.fail("p", time.Second)
	r.away = true
	r.pass(31 * time.Second)
	if probe, _ := r.nodes[0].attempt("p", breaker.Failure); !probe {
		t.Error("no test without a hub")
	}
	for range 5 {
		r.nodes[1].attempt("q", breaker.Failure)
	}
	if r.nodes[1].state("q") != breaker.Open || r.nodes[2].state("q") != breaker.Closed {
		t.Error("they should differ now")
	}
	r.away = false
	r.hub.Restart() // with nothing in it
	r.pass(2 * time.Second)
	r.want("p", breaker.Open)
	r.want("q", breaker.Open)
	want := r.nodes[0].breakers["p"].RetryAfter(r.nodes[0].now())
	if got := r.nodes[2].breakers["p"].RetryAfter(r.nodes[2].now()); got < want-time.Millisecond || got > want+time.Millisecond || want < 50*time.Second {
		t.Errorf("rests %v here and %v there; the second rest is a minute", want, got)
	}
}

func TestProxyThatComesOntoAListIsKnown(t *testing.T) {
	r := newRig(t, 2, "p", "q")
	r.fail("p", time.Second)
	r.pass(2 * time.Second)
	late := newRig(t, 1, "q").nodes[0]
	late.rig, r.nodes = r, append(r.nodes, late)
	r.pass(2 * time.Second)
	late.ids = append(late.ids, "p")
	late.breakers["p"] = breaker.New(settings(), nil)
	late.Reread(late.now())
	r.pass(time.Second)
	r.want("p", breaker.Open)
}

// TestThousandInstancesKeepTheirPace: what all of them may ask together is bounded.
func TestThousandInstancesKeepTheirPace(t *testing.T) {
	for _, n := range []int{0, 1, 3, 10, 100, 1000, 10_000} {
		p := fleet.DefaultTimes().PaceOf(n)
		calls := float64(max(n, 1)) / p.Gap.Seconds()
		if p.Gap > 500*time.Millisecond || n <= 1000 && calls > 5001 || p.Known < 4 || p.Known > 256 {
			t.Errorf("%d instances: %+v, %.0f calls a second", n, p, calls)
		}
		if told := calls * float64(p.Known); n <= 1000 && told > 21_000 {
			t.Errorf("%d instances may tell of %.0f proxies a second", n, told)
		}
	}
}

func TestClocksMayBeOff(t *testing.T) {
	r := newSkewedRig(t, []time.Duration{0, 5 * time.Second, -5 * time.Second}, "p")
	if n := r.fail("p", time.Second); n > 5+3 {
		t.Errorf("%d attempts before all rest it", n)
	}
	r.pass(time.Second)
	for i, n := range r.nodes {
		if left := n.breakers["p"].RetryAfter(n.now()); left < 20*time.Second || left > 30*time.Second {
			t.Errorf("instance %d rests it for another %v", i, left)
		}
	}
}

func TestSkewBeyondFiveSecondsIsFound(t *testing.T) {
	r := newSkewedRig(t, []time.Duration{-6 * time.Second}, "p")
	if behind, much := r.nodes[0].Skew(); !much || behind < 5900*time.Millisecond || behind > 6100*time.Millisecond {
		t.Errorf("%v, %v", behind, much)
	}
}

func TestHealthyFleetTellsNothing(t *testing.T) {
	r := newRig(t, 3, "p", "q")
	for range 100 {
		for _, n := range r.nodes {
			n.attempt("p", breaker.Success)
			s := n.Ask(n.now())
			if len(s.Known)+len(s.Items)+len(s.Leases) > 0 {
				t.Fatalf("told %+v", s)
			}
			n.Failed(n.now())
		}
		r.now = r.now.Add(time.Second)
	}
}

func TestItemsReachTheOthersOnceAndTheNewestHolds(t *testing.T) {
	r := newRig(t, 2, "p")
	a, b := r.nodes[0], r.nodes[1]
	a.Tell("pause:p", "old", a.now(), time.Hour, a.now())
	a.Tell("pause:p", "why", a.now(), time.Hour, a.now())
	r.pass(time.Second)
	b.Tell("pause:p", "", b.now(), time.Hour, b.now())
	r.pass(time.Second)
	values := func(items []storage.Item) (all []string) {
		for _, i := range items {
			all = append(all, i.Value)
		}
		return all
	}
	if got := values(b.items); len(got) != 1 || got[0] != "why" {
		t.Errorf("%q", got)
	}
	if got := values(a.items); len(got) != 1 || got[0] != "" {
		t.Errorf("%q", got)
	}
}

// TestFleetAlwaysAgreesInTheEnd, whatever happened, and however often the hub was
// away or lost all. It also never has two probes in flight while the hub answers.
func TestFleetAlwaysAgreesInTheEnd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		skews := make([]time.Duration, 3)
		for i := range skews {
			skews[i] = time.Duration(rapid.IntRange(-5, 5).Draw(rt, "skew")) * time.Second
		}
		r := newSkewedRig(t, skews, "p", "q")
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			n := rapid.SampledFrom(r.nodes).Draw(rt, "instance")
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0:
				r.away = !r.away
			case 1:
				r.hub.Restart()
			case 2, 3:
				r.pass(time.Duration(rapid.IntRange(1, 400).Draw(rt, "tenths")) * 100 * time.Millisecond)
			default:
				o := rapid.SampledFrom([]breaker.Outcome{breaker.Success, breaker.Failure, breaker.Failure, breaker.Refused, breaker.Ignored}).Draw(rt, "outcome")
				id := rapid.SampledFrom(n.ids).Draw(rt, "proxy")
				for range rapid.IntRange(1, 6).Draw(rt, "times") {
					n.attempt(id, o)
				}
			}
		}
		r.away = false
		r.pass(4 * time.Second)
		for _, id := range []string{"p", "q"} {
			a, _, _ := r.nodes[0].breakers[id].Standing(r.nodes[0].now())
			for i, n := range r.nodes[1:] {
				b, _, _ := n.breakers[id].Standing(n.now())
				// A half_open breaker and an open one whose rest is over are the same.
				if (a.State == breaker.Closed) != (b.State == breaker.Closed) || a.State != breaker.Closed && a.OpensInRow != b.OpensInRow || a.ProbeWins != b.ProbeWins {
					rt.Fatalf("of %s instance 0 has %+v, instance %d %+v", id, a, i+1, b)
				}
				if until := a.Until.Sub(b.Until) - r.nodes[0].skew + n.skew; a.State == breaker.Open && b.State == breaker.Open && (until > 20*time.Millisecond || until < -20*time.Millisecond) {
					rt.Fatalf("%s rests until %v and %v", id, a.Until, b.Until)
				}
			}
		}
	})
}
