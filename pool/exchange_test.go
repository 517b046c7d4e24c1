package pool

import (
	"testing"
	"time"

	"swivel/breaker"
)

func outcomes(x *Exchange) []breaker.Outcome {
	var all []breaker.Outcome
	for _, a := range x.Attempts() {
		all = append(all, a.Outcome)
	}
	return all
}

func TestADoubtfulAttemptIsAFailureWhenAnotherProxyReachesTheTarget(t *testing.T) {
	for _, s := range []Signal{HandshakeGateway, HandshakeClosed, HandshakeTimeout, HandshakeFailed,
		TunnelClosed, TunnelSilent, ResponseClosed, ResponseTimeout, ResponseCut} {
		t.Run(s.String(), func(t *testing.T) {
			x := begin(t, newTestPool(weighted(1, 1)), "target.test:443", epoch)
			first := next(t, x, epoch)
			if events := x.Fail(first, Fault{Signal: s}, epoch); len(events) != 0 {
				t.Fatalf("judged before anything is known: %v", events)
			}
			events := x.Reached(next(t, x, epoch), FirstByte, 0, epoch)
			if len(events) == 0 || events[0].Proxy != first.Proxy || events[0].Signal != s {
				t.Errorf("events %+v, want first a failure of the first proxy", events)
			}
			if got := outcomes(x); got[0] != breaker.Failure || got[1] != breaker.Success {
				t.Errorf("outcomes %v", got)
			}
		})
	}
}

func TestAnEarlierSuccessDoesNotConvictALaterAttempt(t *testing.T) {
	x := begin(t, newTestPool(weighted(1, 1)), "target.test:443", epoch)
	x.Reached(next(t, x, epoch), FirstByte, 0, epoch)
	later := next(t, x, epoch)
	x.Fail(later, Fault{Signal: TunnelClosed}, epoch)
	x.End(epoch)
	if got := outcomes(x); got[1] != breaker.Ignored {
		t.Errorf("outcomes %v: the target may have died in between", got)
	}
}

func TestADoubtfulProbeRestsAgainAsLongAsBefore(t *testing.T) {
	p := newTestPool(weighted(1))
	trip(t, p, 0, epoch)
	due := epoch.Add(30 * time.Second)
	x := begin(t, p, "unknown.test:443", epoch)
	x.Fail(next(t, x, due), Fault{Signal: HandshakeTimeout}, due)
	x.End(due)
	if got := p.Proxies()[0].breaker.Load().RetryAfter(due); got != 30*time.Second {
		t.Errorf("rests %v, want the same 30s", got)
	}
}

func TestAnUnusedTunnelClearsAProbeAndNothingElse(t *testing.T) {
	p := newTestPool(weighted(1))
	x := begin(t, p, "a.test:443", epoch)
	x.Unused(next(t, x, epoch), 0, epoch)
	if got := outcomes(x); got[0] != breaker.Ignored {
		t.Errorf("a closed proxy's unused tunnel counts as %v", got[0])
	}
	trip(t, p, 0, epoch)
	due := epoch.Add(30 * time.Second)
	x = begin(t, p, "a.test:443", epoch)
	x.Unused(next(t, x, due), 0, due)
	if got := outcomes(x); got[0] != breaker.Success {
		t.Errorf("a probe's unused tunnel counts as %v", got[0])
	}
}

func TestAnUnusedTunnelDoesNotClearAProxyThatFailsBehindIts200(t *testing.T) {
	p := newTestPool(weighted(1))
	x := begin(t, p, "a.test:443", epoch)
	x.Fail(next(t, x, epoch), Fault{Signal: TunnelClosed}, epoch)
	x.End(epoch)
	trip(t, p, 0, epoch)
	due := epoch.Add(30 * time.Second)
	x = begin(t, p, "a.test:443", epoch)
	x.Unused(next(t, x, due), 0, due)
	if got := outcomes(x); got[0] != breaker.Ignored {
		t.Errorf("counts as %v", got[0])
	}
}

func TestAnUnusedTunnelShowsThatTheTargetIsUp(t *testing.T) {
	x := begin(t, newTestPool(weighted(1, 1)), "a.test:443", epoch)
	x.Fail(next(t, x, epoch), Fault{Signal: HandshakeGateway}, epoch)
	x.Unused(next(t, x, epoch), 0, epoch)
	if got := outcomes(x); got[0] != breaker.Failure {
		t.Errorf("outcomes %v", got)
	}
}

func TestTwoProxiesThatNameTheTargetEndTheExchange(t *testing.T) {
	x := begin(t, newTestPool(weighted(1, 1, 1)), "gone.test:443", epoch)
	x.Fail(next(t, x, epoch), Fault{Signal: TargetNamed}, epoch)
	if x.TargetToBlame() {
		t.Error("one reply is enough to blame the target")
	}
	x.Fail(next(t, x, epoch), Fault{Signal: TargetNamed}, epoch)
	if !x.TargetToBlame() {
		t.Error("two replies are not enough to blame the target")
	}
}

func TestALeaseIsSettledOnce(t *testing.T) {
	p := newTestPool(weighted(1))
	x := begin(t, p, "a.test:443", epoch)
	l := next(t, x, epoch)
	for range 10 {
		x.Fail(l, Fault{Signal: DialRefused}, epoch)
	}
	x.Reached(l, FirstByte, 0, epoch)
	x.Unused(l, 0, epoch)
	x.End(epoch)
	if n := p.Proxies()[0].breaker.Load().Snapshot(epoch).Failures; len(n) != 1 {
		t.Errorf("%d failures for one attempt", len(n))
	}
}

func TestThrottlingRestsTheProxyAsLongAsItAsked(t *testing.T) {
	p := newTestPool(weighted(1))
	x := begin(t, p, "a.test:443", epoch)
	events := x.Fail(next(t, x, epoch), Fault{Signal: HandshakeThrottled, Rest: 77 * time.Second}, epoch)
	if len(events) != 1 || events[0].Effect.Transition.Rule != breaker.RuleThrottled {
		t.Errorf("events %+v", events)
	}
	if got := p.RetryAfter(epoch); got != time.Minute { // a minute at most, to look again
		t.Errorf("RetryAfter %v", got)
	}
	if got := p.Proxies()[0].breaker.Load().RetryAfter(epoch); got != 77*time.Second {
		t.Errorf("rests %v", got)
	}
}

func TestTheCauseOfAFaultStaysWithItsAttempt(t *testing.T) {
	x := begin(t, newTestPool(weighted(1)), "a.test:443", epoch)
	l := next(t, x, epoch)
	x.Fail(l, Fault{Signal: DialRefused, Err: ErrNoProxies}, epoch.Add(time.Second))
	if a := x.Attempts()[0]; a.Err != ErrNoProxies || a.Took != time.Second || a.Signal != DialRefused {
		t.Errorf("%+v", a)
	}
}

func TestWhoIsAlwaysOvertakenIsTooSlow(t *testing.T) {
	s := breaker.DefaultSettings()
	s.Jitter, s.LatencyLimit = 0, time.Second
	p := New(weighted(1, 1), Options{Breaker: s, Salt: []byte("salt")}, epoch)
	slow := p.Proxies()[0]
	for range 20 {
		x := begin(t, p, "a.test:443", epoch)
		x.Unused(leaseOf(t, x, slow, epoch), 2*time.Second, epoch)
		x.End(epoch)
	}
	if got := slow.breaker.Load().Snapshot(epoch); got.State != breaker.Open || got.Rule != breaker.RuleSlow {
		t.Errorf("%v by %v", got.State, got.Rule)
	}
}

func TestASlowProbeIsAFailedProbe(t *testing.T) {
	s := breaker.DefaultSettings()
	s.Jitter, s.LatencyLimit = 0, time.Second
	p := New(weighted(1), Options{Breaker: s, Salt: []byte("salt"), ProbeRate: 1000}, epoch)
	trip(t, p, 0, epoch)
	due := epoch.Add(30 * time.Second)
	x := begin(t, p, "a.test:443", due)
	x.Unused(next(t, x, due), 2*time.Second, due)
	if s := p.Proxies()[0].breaker.Load().State(due); s != breaker.Open {
		t.Errorf("%v", s)
	}
}

// TestAMachineThatStoodStillDoesNotEmptyThePool: all attempts of all proxies are
// overdue at once then.
func TestAMachineThatStoodStillDoesNotEmptyThePool(t *testing.T) {
	for _, opened := range []bool{false, true} {
		p := newTestPool(weighted(1, 1, 1))
		reach(t, p, "target.test:443", epoch)
		for _, m := range p.Proxies() {
			m.overdue.Add(overdueLimit)
			p.refresh(m, epoch)
		}
		if opened { // one of them has been found out: the others may be as bad
			p.Proxies()[0].overdue.Store(0)
			trip(t, p, 0, epoch)
		}
		if _, _, ok := begin(t, p, "target.test:443", epoch).Next(epoch, leaseTime, true); ok == opened {
			t.Errorf("with an open breaker: %v, picked: %v", opened, ok)
		}
	}
}
