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
			x := newTestPool(weighted(1, 1)).Begin("target.test:443")
			first := next(t, x, epoch)
			if events := x.Fail(first, Fault{Signal: s}, epoch); len(events) != 0 {
				t.Fatalf("judged before anything is known: %v", events)
			}
			events := x.Reached(next(t, x, epoch), FirstByte, epoch)
			if len(events) != 1 || events[0].Proxy != first.Proxy || events[0].Signal != s {
				t.Errorf("events %+v, want one failure of the first proxy", events)
			}
			if got := outcomes(x); got[0] != breaker.Failure || got[1] != breaker.Success {
				t.Errorf("outcomes %v", got)
			}
		})
	}
}

func TestAnEarlierSuccessDoesNotConvictALaterAttempt(t *testing.T) {
	x := newTestPool(weighted(1, 1)).Begin("target.test:443")
	x.Reached(next(t, x, epoch), FirstByte, epoch)
	later := next(t, x, epoch)
	x.Fail(later, Fault{Signal: TunnelClosed}, epoch)
	x.End(epoch)
	if got := outcomes(x); got[1] != breaker.Ignored {
		t.Errorf("outcomes %v: the target may have died in between", got)
	}
}

func TestADeadTargetOpensNoProxy(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1))
	for range 200 {
		x := p.Begin("dead.test:443")
		for range 3 {
			x.Fail(next(t, x, epoch), Fault{Signal: HandshakeGateway}, epoch)
		}
		x.End(epoch)
	}
	for i, m := range p.Proxies() {
		if s := m.breaker.State(epoch); s != breaker.Closed {
			t.Errorf("proxy %d is %v: only one target was ever down, and nobody reached it", i, s)
		}
	}
}

func TestSuspicionsInARowCountWhenTheTargetIsKnownToLive(t *testing.T) {
	specs := weighted(1)
	p := newTestPool(specs)
	if _, err := serve(p, epoch); err != nil { // target.test is reached once
		t.Fatal(err)
	}
	m := p.Proxies()[0]
	for i := range 5 {
		if s := m.breaker.State(epoch); s != breaker.Closed {
			t.Fatalf("%v after %d suspicions", s, i)
		}
		x := p.Begin("target.test:443")
		x.Fail(next(t, x, epoch), Fault{Signal: HandshakeClosed}, epoch)
		x.End(epoch)
	}
	if s := m.breaker.State(epoch); s != breaker.Open {
		t.Errorf("%v after five suspicions in a row", s)
	}
}

func TestASuspicionAgainstATargetReachedLongAgoProvesNothing(t *testing.T) {
	p := newTestPool(weighted(1))
	if _, err := serve(p, epoch); err != nil {
		t.Fatal(err)
	}
	later := epoch.Add(reachedWithin + time.Minute)
	for range 20 {
		x := p.Begin("target.test:443")
		x.Fail(next(t, x, later), Fault{Signal: HandshakeClosed}, later)
		x.End(later)
	}
	if s := p.Proxies()[0].breaker.State(later); s != breaker.Closed {
		t.Errorf("%v", s)
	}
}

func TestADoubtfulProbeRestsAgainAsLongAsBefore(t *testing.T) {
	p := newTestPool(weighted(1))
	trip(t, p, 0, epoch)
	due := epoch.Add(30 * time.Second)
	x := p.Begin("unknown.test:443")
	x.Fail(next(t, x, due), Fault{Signal: HandshakeTimeout}, due)
	x.End(due)
	if got := p.Proxies()[0].breaker.RetryAfter(due); got != 30*time.Second {
		t.Errorf("rests %v, want the same 30s", got)
	}
}

func TestAnUnusedTunnelClearsAProbeAndNothingElse(t *testing.T) {
	p := newTestPool(weighted(1))
	x := p.Begin("a.test:443")
	x.Unused(next(t, x, epoch), epoch)
	if got := outcomes(x); got[0] != breaker.Ignored {
		t.Errorf("a closed proxy's unused tunnel counts as %v", got[0])
	}
	trip(t, p, 0, epoch)
	due := epoch.Add(30 * time.Second)
	x = p.Begin("a.test:443")
	x.Unused(next(t, x, due), due)
	if got := outcomes(x); got[0] != breaker.Success {
		t.Errorf("a probe's unused tunnel counts as %v", got[0])
	}
}

func TestAnUnusedTunnelDoesNotClearAProxyThatFailsBehindIts200(t *testing.T) {
	p := newTestPool(weighted(1))
	x := p.Begin("a.test:443")
	x.Fail(next(t, x, epoch), Fault{Signal: TunnelClosed}, epoch)
	x.End(epoch)
	trip(t, p, 0, epoch)
	due := epoch.Add(30 * time.Second)
	x = p.Begin("a.test:443")
	x.Unused(next(t, x, due), due)
	if got := outcomes(x); got[0] != breaker.Ignored {
		t.Errorf("counts as %v", got[0])
	}
}

func TestAnUnusedTunnelShowsThatTheTargetIsUp(t *testing.T) {
	x := newTestPool(weighted(1, 1)).Begin("a.test:443")
	x.Fail(next(t, x, epoch), Fault{Signal: HandshakeGateway}, epoch)
	x.Unused(next(t, x, epoch), epoch)
	if got := outcomes(x); got[0] != breaker.Failure {
		t.Errorf("outcomes %v", got)
	}
}

func TestTwoProxiesThatNameTheTargetEndTheExchange(t *testing.T) {
	x := newTestPool(weighted(1, 1, 1)).Begin("gone.test:443")
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
	x := p.Begin("a.test:443")
	l := next(t, x, epoch)
	for range 10 {
		x.Fail(l, Fault{Signal: DialRefused}, epoch)
	}
	x.Reached(l, FirstByte, epoch)
	x.Unused(l, epoch)
	x.End(epoch)
	if n := p.Proxies()[0].breaker.Snapshot(epoch).Failures; len(n) != 1 {
		t.Errorf("%d failures for one attempt", len(n))
	}
}

func TestThrottlingRestsTheProxyAsLongAsItAsked(t *testing.T) {
	p := newTestPool(weighted(1))
	x := p.Begin("a.test:443")
	events := x.Fail(next(t, x, epoch), Fault{Signal: HandshakeThrottled, Rest: 77 * time.Second}, epoch)
	if len(events) != 1 || events[0].Effect.Transition.Rule != breaker.RuleThrottled {
		t.Errorf("events %+v", events)
	}
	if got := p.RetryAfter(epoch); got != time.Minute { // a minute at most, to look again
		t.Errorf("RetryAfter %v", got)
	}
	if got := p.Proxies()[0].breaker.RetryAfter(epoch); got != 77*time.Second {
		t.Errorf("rests %v", got)
	}
}

func TestTheCauseOfAFaultStaysWithItsAttempt(t *testing.T) {
	x := newTestPool(weighted(1)).Begin("a.test:443")
	l := next(t, x, epoch)
	x.Fail(l, Fault{Signal: DialRefused, Err: ErrNoProxies}, epoch.Add(time.Second))
	if a := x.Attempts()[0]; a.Err != ErrNoProxies || a.Took != time.Second || a.Signal != DialRefused {
		t.Errorf("%+v", a)
	}
}
