package eventlog

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool"
)

// line returns what f logs to a console.
func line(t *testing.T, f func(*Log)) string {
	t.Helper()
	var out bytes.Buffer
	log, err := New(&out, "console", "info")
	if err != nil {
		t.Fatal(err)
	}
	f(log)
	return strings.TrimSuffix(out.String(), "\n")
}

func proxy(name string) *pool.Proxy {
	return &pool.Proxy{ID: "0123456789abcdef", Spec: &pool.Spec{Name: name}}
}

func TestConsoleTellsAnExchangeInASentence(t *testing.T) {
	got := line(t, func(l *Log) {
		l.Exchange(Exchange{
			ID: "r1", Kind: "plain", Client: "127.0.0.1:5", Method: "GET",
			Target: "a.test:80", Status: 200, Proxy: proxy("good"), Took: 420 * time.Microsecond, Down: 7,
			Attempts: []pool.Attempt{
				{Proxy: proxy("dead"), Signal: pool.DialRefused, Outcome: breaker.Failure},
				{Proxy: proxy("good"), Signal: pool.Response, Outcome: breaker.Success},
			},
		})
	})
	want := `^\d\d:\d\d:\d\d\.\d\d\d INF GET a\.test:80 200 via good in 400µs, after dead \(dial_refused\) ` +
		`client=127\.0\.0\.1:5 down=7 request=r1 up=0$`
	if !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestResponseThatWasNotPassedOnWasLeftOut: with retry_statuses another proxy is
// asked, and what the first one said is a success all the same.
func TestResponseThatWasNotPassedOnWasLeftOut(t *testing.T) {
	a, b := proxy("a"), proxy("b")
	b.ID = "fedcba9876543210"
	response := func(p *pool.Proxy) pool.Attempt {
		return pool.Attempt{Proxy: p, Signal: pool.Response, Outcome: breaker.Success}
	}
	for want, attempts := range map[string][]pool.Attempt{
		" 503 via b in 4ms, after a (response) client=": {response(a), response(b)},
		" 503 via b in 4ms, after b (response) client=": {response(b), response(b)},
		" 503 via b in 4ms client=":                     {{Proxy: a, Signal: pool.FirstByte, Outcome: breaker.Success}, response(b)},
	} {
		got := line(t, func(l *Log) {
			l.Exchange(Exchange{ID: "r1", Kind: "plain", Method: "GET", Target: "a.test:80", Status: 503, Proxy: b, Took: 4 * time.Millisecond, Attempts: attempts})
		})
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant%s", got, want)
		}
	}
}

func TestConsoleTellsARefusalWithoutProxyOrTarget(t *testing.T) {
	got := line(t, func(l *Log) {
		l.Exchange(Exchange{ID: "r1", Kind: "connect", Client: ":0", Status: 400, Code: "bad_request", Took: 1500 * time.Millisecond})
	})
	if !strings.Contains(got, " CONNECT 400 in 1.5s ") || !strings.Contains(got, "code=bad_request") {
		t.Error(got)
	}
}

func TestConsoleTellsATransitionInASentence(t *testing.T) {
	now := time.Now()
	b := breaker.New(breaker.DefaultSettings(), func() float64 { return 0 })
	permit, _, _ := b.Acquire(now, time.Minute)
	effect := b.Report(permit, breaker.Verdict{Outcome: breaker.Refused}, now)
	got := line(t, func(l *Log) {
		l.Transitions(pool.Event{Request: "r1", Proxy: proxy("mine"), Signal: pool.HandshakeAuth, Effect: effect})
	})
	if !strings.Contains(got, " WRN breaker of mine: closed -> open for 15m0s ") || !strings.Contains(got, "rule=refused signal=handshake_auth") {
		t.Error(got)
	}
}

func TestConsoleQuotesWhatATerminalWouldObey(t *testing.T) {
	got := line(t, func(l *Log) {
		l.Exchange(Exchange{ID: "r1", Kind: "connect", Client: ":0", Target: "a\u009b2J:443", Status: 502})
	})
	if strings.ContainsRune(got, '\u009b') || !strings.Contains(got, `"a\u009b2J:443"`) {
		t.Errorf("%q", got)
	}
}
