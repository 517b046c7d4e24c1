package breaker_test

import (
	"strings"
	"testing"

	"swivel/breaker"
)

func TestStoredWordsDoNotChange(t *testing.T) {
	for s, want := range map[breaker.State]string{
		breaker.Closed: "closed", breaker.Open: "open", breaker.HalfOpen: "half_open",
	} {
		if got := s.String(); got != want {
			t.Errorf("state %d = %q, want %q", s, got, want)
		}
		if got, err := breaker.ParseState(want); got != s || err != nil {
			t.Errorf("ParseState(%q) = %v, %v", want, got, err)
		}
	}
	for r, want := range map[breaker.Rule]string{
		breaker.RuleNone: "none", breaker.RuleRun: "run", breaker.RuleRefused: "refused",
		breaker.RuleThrottled: "throttled", breaker.RuleProbe: "probe", breaker.RuleDue: "due",
		breaker.RuleRecovered: "recovered", breaker.RuleRate: "rate", breaker.RuleSlow: "slow",
	} {
		if got := r.String(); got != want {
			t.Errorf("rule %d = %q, want %q", r, got, want)
		}
		if got, err := breaker.ParseRule(want); got != r || err != nil {
			t.Errorf("ParseRule(%q) = %v, %v", want, got, err)
		}
	}
	for o, want := range map[breaker.Outcome]string{
		breaker.Success: "success", breaker.Failure: "failure", breaker.Refused: "refused",
		breaker.Throttled: "throttled", breaker.Ignored: "ignored",
	} {
		if got := o.String(); got != want {
			t.Errorf("outcome %d = %q, want %q", o, got, want)
		}
	}
}

func TestUnknownWordsAreErrorsThatNameTheKnown(t *testing.T) {
	for _, name := range []string{"", "OPEN", "half-open", "unknown", " open"} {
		s, err := breaker.ParseState(name)
		if err == nil || s != breaker.Closed || !strings.Contains(err.Error(), "half_open") {
			t.Errorf("ParseState(%q) = %v, %v", name, s, err)
		}
		if r, err := breaker.ParseRule(name); err == nil || r != breaker.RuleNone {
			t.Errorf("ParseRule(%q) = %v, %v", name, r, err)
		}
	}
}

func TestUnknownValuesPrintOneWord(t *testing.T) {
	for _, got := range []string{breaker.State(3).String(), breaker.Rule(200).String(), breaker.Outcome(5).String()} {
		if got != "unknown" {
			t.Errorf("got %q, want unknown: metric labels come from closed sets", got)
		}
	}
}
