package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool"
)

// entries returns what f logs as JSON.
func entries(t *testing.T, f func(*Log)) (all []map[string]any) {
	t.Helper()
	var out bytes.Buffer
	log, err := New(&out, "json", "info")
	if err != nil {
		t.Fatal(err)
	}
	f(log)
	for text := range strings.Lines(out.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		all = append(all, fields)
	}
	return all
}

func wantFields(t *testing.T, got, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %v, want %v, in %v", name, got[name], value, got)
		}
	}
}

func TestExchangeTellsWhatEveryAttemptRanInto(t *testing.T) {
	got := entries(t, func(l *Log) {
		l.Exchange(Exchange{
			ID: "r1", Kind: "connect", Client: "127.0.0.1:5", Target: "a.test:443", Status: 200, Proxy: proxy("good"),
			Opened: 20 * time.Millisecond, Took: 1500 * time.Millisecond, Up: 3, Down: 7,
			Attempts: []pool.Attempt{
				{Proxy: proxy("dead"), Signal: pool.DialRefused, Outcome: breaker.Failure, Took: 2 * time.Millisecond, Err: errors.New("no route")},
				{Proxy: proxy("due"), Signal: pool.HandshakeAuth, Outcome: breaker.Refused, Probe: true},
				{Proxy: proxy("good"), Signal: pool.FirstByte, Outcome: breaker.Success},
			},
		})
	})
	if len(got) != 1 {
		t.Fatalf("%d lines", len(got))
	}
	wantFields(t, got[0], map[string]any{
		"level": "info", "message": "exchange", "request": "r1", "kind": "connect", "client": "127.0.0.1:5", "target": "a.test:443", "status": 200.0,
		"proxy": "0123456789abcdef", "proxy_name": "good", "opened_ms": 20.0, "took_ms": 1500.0, "up": 3.0, "down": 7.0, "code": nil, "reason": nil, "method": nil,
	})
	attempts, _ := got[0]["attempts"].([]any)
	for i, want := range []map[string]any{
		{"proxy_name": "dead", "signal": "dial_refused", "outcome": "failure", "ms": 2.0, "error": "no route", "probe": nil},
		{"proxy_name": "due", "signal": "handshake_auth", "outcome": "refused", "probe": true, "error": nil},
		{"proxy_name": "good", "signal": "first_byte", "outcome": "success", "proxy": "0123456789abcdef"},
	} {
		if len(attempts) != 3 {
			t.Fatalf("%d attempts", len(attempts))
		}
		wantFields(t, attempts[i].(map[string]any), want)
	}
}

func TestRefusedExchangeTellsWhy(t *testing.T) {
	got := entries(t, func(l *Log) {
		l.Exchange(Exchange{ID: "r1", Kind: "plain", Client: ":0", Status: 400, Code: "bad_request", Reason: "a \"strange\"\nname"})
	})
	wantFields(t, got[0], map[string]any{"status": 400.0, "code": "bad_request", "reason": "a \"strange\"\nname", "attempts": nil, "proxy": nil, "target": nil, "opened_ms": nil})
}

func TestTransitionTellsRuleRateSamplesAndRequest(t *testing.T) {
	settings := breaker.DefaultSettings()
	settings.ConsecutiveFailures, settings.OpenTimeout, settings.ProbeSuccesses = 0, 30*time.Second, 1
	b := breaker.New(settings, func() float64 { return 0 })
	now := time.Now()
	report := func(o breaker.Outcome) breaker.Effect {
		permit, _, _ := b.Acquire(now, time.Minute)
		return b.Report(permit, breaker.Verdict{Outcome: o}, now)
	}
	got := entries(t, func(l *Log) {
		for i := range 21 { // a failure comes last: a success opens nothing
			effect := report([]breaker.Outcome{breaker.Failure, breaker.Success, breaker.Failure}[i%3])
			l.Transitions(pool.Event{Request: "r1", Proxy: proxy("bad"), Signal: pool.DialTimeout, Effect: effect})
		}
		now = now.Add(time.Minute)
		permit, effect, _ := b.Acquire(now, time.Minute)
		l.Transitions(pool.Event{Request: "r2", Proxy: proxy("bad"), Effect: effect})
		effect = b.Report(permit, breaker.Verdict{}, now)
		l.Transitions(pool.Event{Request: "r2", Proxy: proxy("bad"), Signal: pool.FirstByte, Effect: effect})
	})
	if len(got) != 3 {
		t.Fatalf("%d lines: %v", len(got), got)
	}
	wantFields(t, got[0], map[string]any{
		"level": "warn", "message": "breaker", "proxy": "0123456789abcdef", "proxy_name": "bad", "from": "closed", "to": "open", "rule": "rate",
		"rate": 0.67, "samples": 21.0, "request": "r1", "signal": "dial_timeout", "rest_ms": 30_000.0,
	})
	wantFields(t, got[1], map[string]any{"level": "info", "from": "open", "to": "half_open", "rule": "due", "request": "r2", "signal": nil, "rest_ms": nil})
	wantFields(t, got[2], map[string]any{"level": "info", "from": "half_open", "to": "closed", "rule": "recovered", "request": "r2", "signal": "first_byte"})
}

// A lost probe is found by a call that may itself send out the next one.
func TestBothTransitionsOfOneCallAreTold(t *testing.T) {
	settings := breaker.DefaultSettings()
	b, now := breaker.New(settings, nil), time.Now()
	permit, _, _ := b.Acquire(now, time.Minute)
	b.Report(permit, breaker.Verdict{Outcome: breaker.Refused}, now)
	now = now.Add(settings.RefusedTimeout)
	b.Acquire(now, time.Second) // and nothing is heard of it
	_, effect, _ := b.Acquire(now.Add(24*time.Hour), time.Second)
	got := entries(t, func(l *Log) { l.Transitions(pool.Event{Request: "r1", Proxy: proxy("lost"), Effect: effect}) })
	if len(got) != 2 {
		t.Fatalf("%d lines: %v", len(got), got)
	}
	wantFields(t, got[0], map[string]any{"from": "half_open", "to": "open", "rule": "probe"})
	wantFields(t, got[1], map[string]any{"from": "open", "to": "half_open", "rule": "due"})
}

func TestNothingIsToldOfWhatDidNotMove(t *testing.T) {
	got := entries(t, func(l *Log) {
		l.Transitions(pool.Event{Request: "r1", Proxy: proxy("a"), Effect: breaker.Effect{Changed: true}})
		l.Outage(pool.Event{})
	})
	if len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestOutageIsToldWithItsEnd(t *testing.T) {
	got := entries(t, func(l *Log) {
		for _, change := range []pool.Outage{pool.OutageBegan, pool.OutageEnded, pool.OutageGivenUp} {
			l.Outage(pool.Event{Outage: change, Request: "r1"})
		}
	})
	if len(got) != 3 {
		t.Fatalf("%v", got)
	}
	for i, level := range []string{"warn", "info", "warn"} {
		if got[i]["level"] != level || got[i]["message"] == "" {
			t.Errorf("%v, want level %s", got[i], level)
		}
	}
}

func TestFormatAndLevelAreChecked(t *testing.T) {
	for _, c := range []struct{ format, level, want string }{
		{"json", "info", ""}, {"console", "debug", ""}, {"json", "warn", ""}, {"json", "error", ""},
		{"json", "", "log.level: "}, {"json", "loud", "log.level: "}, {"", "info", "log.format: "}, {"text", "info", "log.format: "}, {"JSON", "info", "log.format: "},
	} {
		_, err := New(io.Discard, c.format, c.level)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%q, %q: %v", c.format, c.level, err)
		}
	}
	var out bytes.Buffer
	log, err := New(&out, "json", "warn")
	if err != nil {
		t.Fatal(err)
	}
	log.Exchange(Exchange{ID: "r1", Client: ":0"})
	if out.Len() > 0 {
		t.Errorf("an exchange is told at level warn: %s", &out)
	}
}

// Lines of many exchanges at once must not be mixed.
func TestLinesStayWhole(t *testing.T) {
	got := entries(t, func(l *Log) {
		var working sync.WaitGroup
		for range 8 {
			working.Go(func() {
				for range 50 {
					l.Exchange(Exchange{ID: "r1", Client: ":0", Attempts: []pool.Attempt{{Proxy: proxy("a")}}})
				}
			})
		}
		working.Wait()
	})
	if len(got) != 400 {
		t.Errorf("%d lines, want 400", len(got))
	}
}
