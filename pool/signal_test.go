package pool

import (
	"testing"

	"swivel/breaker"
)

// doubt stands for "what else is known decides".
const doubt = breaker.Outcome(99)

func TestEverySignalHasItsOutcome(t *testing.T) {
	want := map[Signal]breaker.Outcome{
		NoSignal:    breaker.Ignored,
		DialRefused: breaker.Failure, DialTimeout: breaker.Failure, DialFailed: breaker.Failure,
		DialNoName: breaker.Failure, DialTLS: breaker.Failure,
		LocalFault: breaker.Ignored, ClientGone: breaker.Ignored,
		HandshakeGarbage: breaker.Failure, HandshakeAuth: breaker.Refused, HandshakeThrottled: breaker.Throttled,
		HandshakeDenied: breaker.Ignored, HandshakeRejected: breaker.Failure, HandshakeLoop: breaker.Failure, HandshakeUnsupported: breaker.Ignored,
		HandshakeGateway: doubt, HandshakeClosed: doubt, HandshakeTimeout: doubt, HandshakeFailed: doubt,
		TargetNamed: breaker.Ignored,
		FirstByte:   breaker.Success, TunnelClosed: doubt, TunnelSilent: doubt, TunnelUnused: breaker.Ignored,
		Response: breaker.Success, ResponseClosed: doubt, ResponseTimeout: doubt, ResponseCut: doubt,
		ResponseGarbage: doubt,
		Reported:        breaker.Ignored,
	}
	if len(want) != int(signals) {
		t.Fatalf("the test knows %d of %d signals", len(want), signals)
	}
	names := map[string]bool{}
	for s := range signals {
		got, inDoubt := s.outcome()
		if inDoubt {
			got = doubt
		}
		if got != want[s] {
			t.Errorf("%v: %v, want %v", s, got, want[s])
		}
		if names[s.String()] || s.String() == "" {
			t.Errorf("signal %d has no name of its own: %q", s, s)
		}
		names[s.String()] = true
	}
	if got := signals.String(); got != "unknown" {
		t.Errorf("a signal out of range prints %q", got)
	}
}

func TestTimeoutSignals(t *testing.T) {
	for s := range signals {
		want := s == DialTimeout || s == HandshakeTimeout || s == TunnelSilent || s == ResponseTimeout
		if s.Timeout() != want {
			t.Errorf("%v: %v", s, s.Timeout())
		}
	}
}
