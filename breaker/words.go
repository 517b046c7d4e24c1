package breaker

import (
	"fmt"
	"slices"
)

// State is where a breaker stands. The zero value is Closed.
type State uint8

// The states. Their strings are what the database holds.
const (
	Closed   State = iota // attempts pass
	Open                  // no attempts until the rest is over
	HalfOpen              // one probe at a time
)

var stateNames = []string{Closed: "closed", Open: "open", HalfOpen: "half_open"}

// String returns `closed`, `open` or `half_open`.
func (s State) String() string { return word(stateNames, int(s)) }

// ParseState is the inverse of State.String. On error the state is Closed.
func ParseState(name string) (State, error) {
	i, err := parseWord("state", stateNames, name)
	return State(i), err
}

// Outcome is what an attempt said about its proxy. The zero value is Success.
// A value that is none of these is treated as Ignored.
type Outcome uint8

// The outcomes.
const (
	Success   Outcome = iota // the proxy did its work
	Failure                  // a fault of the proxy: counts
	Refused                  // the proxy will not serve us (credentials, quota): opens at once
	Throttled                // the proxy asked for a pause: opens for Verdict.Rest, counts nothing
	Ignored                  // nothing was learnt about the proxy
)

var outcomeNames = []string{
	Success: "success", Failure: "failure", Refused: "refused", Throttled: "throttled", Ignored: "ignored",
}

// String returns the outcome in lower case, as logs and metrics name it.
func (o Outcome) String() string { return word(outcomeNames, int(o)) }

// Rule names why a transition happened. The zero value is RuleNone.
type Rule uint8

// The rules.
const (
	RuleNone      Rule = iota
	RuleRun            // so many failures, or so many suspicions, without a success between; or three failures and never a success
	RuleRefused        // the proxy refused us
	RuleThrottled      // the proxy asked for a pause
	RuleProbe          // a probe failed, was suspect or slow, or its lease expired
	RuleDue            // the rest is over
	RuleRecovered      // enough probes in a row succeeded
	RuleRate           // too large a share of failures in the window
	RuleSlow           // the p95 of the latency over the limit in two blocks of ten
)

var ruleNames = []string{
	RuleNone: "none", RuleRun: "run", RuleRefused: "refused", RuleThrottled: "throttled",
	RuleProbe: "probe", RuleDue: "due", RuleRecovered: "recovered",
	RuleRate: "rate", RuleSlow: "slow",
}

// String returns the rule in lower case, as logs, metrics and the database
// name it.
func (r Rule) String() string { return word(ruleNames, int(r)) }

// ParseRule is the inverse of Rule.String. On error the rule is RuleNone.
func ParseRule(name string) (Rule, error) {
	i, err := parseWord("rule", ruleNames, name)
	return Rule(i), err
}

// word never returns anything outside a closed set: these strings become metric
// labels.
func word(names []string, i int) string {
	if i >= len(names) {
		return "unknown"
	}
	return names[i]
}

func parseWord(kind string, names []string, name string) (int, error) {
	i := slices.Index(names, name)
	if i < 0 {
		return 0, fmt.Errorf("unknown %s %q: want one of %q", kind, name, names)
	}
	return i, nil
}
