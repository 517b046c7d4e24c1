package swiveltest

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Line is one of a daemon's log. Which fields it has depends on the message.
type Line struct {
	Message, Level, Error string
	Time                  time.Time

	Listen, Admin  string // of "ready"
	Added, Removed int    // of "reloaded"
	FailedWrites   int    `json:"failed_writes"`

	// Of "exchange", and in part of others.
	Request, Kind, User, Session, Target, Code string
	Status                                     int
	Opened                                     Milliseconds `json:"opened_ms"` // until the answer to the request
	Took                                       Milliseconds `json:"took_ms"`
	Attempts                                   []Attempt

	// Of "breaker".
	Proxy          string // its id
	Name           string `json:"proxy_name"`
	From, To, Rule string
	Samples        int
	Rate           float64
}

// Attempt is one of an exchange.
type Attempt struct {
	Proxy, Signal, Outcome string
	Name                   string `json:"proxy_name"`
	Probe                  bool
}

// Milliseconds are how a log tells durations.
type Milliseconds float64

// Duration is the same as Go has it.
func (ms Milliseconds) Duration() time.Duration {
	return time.Duration(float64(ms) * float64(time.Millisecond))
}

// Began is when the exchange of a line did.
func (l Line) Began() time.Time { return l.Time.Add(-l.Took.Duration()) }

// Lines are those of the log so far whose message begins so. One that is still
// being written, or that a kill has cut short, is left out.
func (d *Daemon) Lines(t testing.TB, message string) (all []Line) {
	t.Helper()
	for text := range strings.Lines(d.Output(t)) {
		if !strings.HasSuffix(text, "\n") || !strings.Contains(text, message) {
			continue
		}
		var l Line
		err := json.Unmarshal([]byte(text), &l)
		if strings.HasPrefix(l.Message, message) && err == nil {
			all = append(all, l)
		}
		if other := new(json.UnmarshalTypeError); errors.As(err, &other) {
			t.Errorf("%v: %s", err, text)
		}
	}
	return all
}

// AwaitLog waits until all exchanges that are over are in the log, which is
// written some of them at a time. What a killed daemon has not written stays out.
func (d *Daemon) AwaitLog(t testing.TB) {
	t.Helper()
	if !d.Running() {
		return
	}
	over := int(d.Metric(t, "swivel_exchanges_total"))
	Eventually(t, 10*time.Second, "the log is complete", func() bool { return len(d.Lines(t, "exchange")) >= over })
}

// crash is what no log may ever hold.
var crash = regexp.MustCompile(`(?m)^WARNING: DATA RACE$|^panic: |^fatal error: |^goroutine \d+|a bug in swivel`)

func (d *Daemon) checkOutput(t testing.TB) {
	t.Helper()
	output := d.Output(t)
	if at := crash.FindStringIndex(output); at != nil {
		t.Errorf("the output of swivel: %.4000s", output[at[0]:])
	}
}

// shown is what is worth reading of an output: all of a short one, and of a long
// one what swivel said beside exchanges that were served, and the end.
func shown(output string) string {
	const all, rare, end = 20_000, 6000, 2000 // bytes
	if len(output) <= all {
		return output
	}
	lines := slices.DeleteFunc(strings.SplitAfter(output, "\n"), func(l string) bool {
		return strings.Contains(l, `"message":"exchange"`) && !strings.Contains(l, `"code"`)
	})
	kept := strings.Join(lines, "")
	return kept[:min(len(kept), rare)] + "\n...\n" + output[len(output)-end:]
}
