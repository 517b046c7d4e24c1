package soak

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestOnlyWhatHasACauseIsExplained(t *testing.T) {
	for _, c := range []struct {
		name      string
		err       error
		harm      string
		explained bool
	}{
		{"good", nil, "", true},
		{"good in spite of a harm", nil, "cut", true},
		{"left", errLeft, "", true},
		{"refused for the pool", &Refused{503, "no_proxy"}, "", true},
		{"refused, and wrapped", fmt.Errorf("x: %w", &Refused{502, "attempts_spent"}), "", true},
		{"refused for the client", &Refused{400, "bad_request"}, "", false},
		{"refused for the client, with a harm", &Refused{400, "bad_request"}, "cut", false},
		{"refused without a word", &Refused{502, ""}, "", false},
		{"cut off by an upstream", io.ErrUnexpectedEOF, "cut", true},
		{"cut off by nobody", io.ErrUnexpectedEOF, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tally Tally
			tally.open(kindConnect)
			tally.close(kindConnect, c.err, c.harm)
			s := tally.Totals()
			if (s.Unexplained == 0) != c.explained || s.Opened != 1 || s.Closed() != 1 || (tally.Unexplained() == nil) != c.explained {
				t.Errorf("%+v, %v", s, tally.Unexplained())
			}
		})
	}
}

func TestHarmThatAnotherAttemptMadeGoodExplainsNothing(t *testing.T) {
	l := newLedger()
	l.harmed("a", "login", false)
	l.asked("a")
	if what := l.take("a"); what != "" {
		t.Errorf("the harm of an earlier attempt is still %q", what)
	}
	l.harmed("a", "reset", true)
	l.asked("a") // by an attempt that was overtaken
	if what := l.take("a"); what != "reset" {
		t.Errorf("the harm of the last attempt is %q", what)
	}
	l.harmed("b", "cut", true)
	l.tidy(time.Now().Add(forgotten + time.Second))
	if len(l.harms) != 0 {
		t.Errorf("harms are kept for ever: %v", l.harms)
	}
}

func TestWatchReadsALogThatIsBeingWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := NewWatch(file)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	out, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for _, part := range []string{
		`{"level":"info","kind":"plain","message":"exchange"}` + "\n" + `{"level":"info","ki`, `nd":"connect","message":"exchange"}` + "\n",
		`{"level":"warn","message":"breaker"}` + "\n", `{"level":"error","message":"cannot"}` + "\n" + "panic: x\n",
	} {
		if _, err := io.WriteString(out, part); err != nil {
			t.Fatal(err)
		}
		if err := w.Read(); err != nil {
			t.Fatal(err)
		}
	}
	if w.logged["plain"] != 1 || w.logged["connect"] != 1 || len(w.logged) != 2 {
		t.Errorf("logged: %v", w.logged)
	}
	if got := strings.Join(w.bad, "|"); got != `{"level":"error","message":"cannot"}|panic: x` {
		t.Errorf("bad lines: %s", got)
	}
}

func TestWhatDoesNotAddUpIsToldOf(t *testing.T) {
	for name, spoil := range map[string]func(r *Run, m *metrics, w *Watch){
		"":                                func(*Run, *metrics, *Watch) {},
		"exchanges are not accounted for": func(_ *Run, m *metrics, _ *Watch) { m.exchanges[kindPlain]-- },
		"opened 1, closed 0":              func(r *Run, _ *metrics, _ *Watch) { r.Tally.open(kindPlain) },
		"something is left behind":        func(_ *Run, m *metrics, _ *Watch) { m.inFlight = 1 },
		"in the log: panic":               func(_ *Run, _ *metrics, w *Watch) { w.bad = []string{"panic"} },
		"unexplained": func(r *Run, m *metrics, w *Watch) {
			r.Tally.open(kindPlain)
			r.Tally.close(kindPlain, errors.New("odd"), "")
		},
	} {
		r := &Run{}
		r.Tally.open(kindPlain)
		r.Tally.close(kindPlain, nil, "")
		m, w := metrics{exchanges: map[string]int64{kindPlain: 1}}, &Watch{logged: map[string]int64{kindPlain: 1}}
		spoil(r, &m, w)
		err := r.compare(r.Tally.Opened(), m, w, io.Discard)
		switch {
		case name == "" && err != nil:
			t.Error(err)
		case name == "opened 1, closed 0":
			if err == nil || !strings.Contains(err.Error(), "accounted") {
				t.Errorf("%s: %v", name, err)
			}
		case name != "" && (err == nil || !strings.Contains(err.Error(), name)):
			t.Errorf("%s: %v", name, err)
		}
	}
}
